/**
 * Measures backfills and dry runs of two streams that match the same blocks: one with a single
 * address, and one with a million. Every block is read, because the streams take native
 * transactions.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
import { until } from '@sluice/testkit';
import { API_KEY } from '../../test/serve.ts';
import { addressBytes } from '../addressBytes.ts';
import { type Figures, toFigure } from '../figures.ts';
import { type EventSink, startEventSink } from './eventSink.ts';
import { readPeak } from './memory.ts';
import { type Sluice, startWorld, withSluice } from './world.ts';

const ADDRESSES = 1_000_000;
/** Number of runs of each stream, in turns, each over other blocks. */
const ROUNDS = 3;
/** Number of blocks of one backfill, and of one series of dry runs. */
const BLOCKS = 1_000;
const TRIED_BLOCKS = 200;
const PATIENCE_MS = 300_000;

export async function measureLarge(): Promise<Figures> {
  const { anvil, contract, emit, stop } = await startWorld();
  const sink = await startEventSink();
  try {
    const from = Number(await anvil.request('eth_blockNumber')) + 1;
    await anvil.request('evm_setAutomine', [false]);
    for (let block = 0; block < ROUNDS * BLOCKS; block++) {
      await emit(1);
      await anvil.request('evm_mine', []);
    }
    // Adds blocks after the range, because a backfill ends at the newest confirmed block.
    await anvil.request('anvil_mine', [64]);
    return await withSluice(anvil.url, (sluice) => measure(sluice, { contract, sink, from }));
  } finally {
    await sink.stop();
    await stop();
  }
}

async function measure(
  sluice: Sluice,
  { contract, sink, from }: { contract: string; sink: EventSink; from: number },
): Promise<Figures> {
  const lists = { one: [contract], million: [contract, ...listAddresses(ADDRESSES - 1)] };
  const client = createClient({ apiKey: API_KEY, baseUrl: sluice.url, timeoutMs: PATIENCE_MS });
  const ids: Record<string, string> = {};
  for (const [name, addresses] of Object.entries(lists)) {
    const { id } = await client.streams.create({
      webhookUrl: sink.url,
      description: 'bench',
      tag: name,
      chainIds: ['0x7a69'],
      includeContractLogs: true,
      includeNativeTxs: true,
    });
    await client.streams.replaceAddresses(id, addresses);
    ids[name] = id;
  }
  const seconds = { one: { backfill: 0, dryRun: 0 }, million: { backfill: 0, dryRun: 0 } };
  const callMs = { one: [] as number[], million: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    const range = { from: from + round * BLOCKS, to: from + (round + 1) * BLOCKS - 1 };
    for (const name of ['one', 'million'] as const) {
      const id = ids[name]!;
      seconds[name].dryRun += await dryRun(sluice, id, range.from);
      const ran = await backfill(sluice, { id, range, sink });
      seconds[name].backfill += ran.seconds;
      callMs[name].push(...ran.callMs);
    }
  }
  const rate = (blocks: number, taken: number, note: string) =>
    toFigure((ROUNDS * blocks) / taken, '/s', note);
  const ratio = (work: 'backfill' | 'dryRun') =>
    toFigure((seconds.one[work] / seconds.million[work]) * 100, '%', 'goal: at least 80');
  const { one, million } = seconds;
  return {
    'backfill, one address': rate(BLOCKS, one.backfill, 'blocks, each with a webhook'),
    'backfill, a million': rate(BLOCKS, million.backfill, 'the same'),
    'backfill, ratio': ratio('backfill'),
    'dry run, one address': rate(TRIED_BLOCKS, one.dryRun, 'blocks, each in its own call'),
    'dry run, a million': rate(TRIED_BLOCKS, million.dryRun, 'the same'),
    'dry run, ratio': ratio('dryRun'),
    'API, one address': toFigure(median(callMs.one), 'ms', 'p50 of calls during the backfill'),
    'API, a million': toFigure(median(callMs.million), 'ms', 'the same'),
    peak: toFigure(readPeak(sluice.pid) / 1024 ** 2, 'MiB', 'peak resident memory'),
  };
}

async function backfill(
  sluice: Sluice,
  { id, range, sink }: { id: string; range: { from: number; to: number }; sink: EventSink },
): Promise<{ seconds: number; callMs: number[] }> {
  const client = createSluiceClient({ apiKey: API_KEY, baseUrl: sluice.url });
  const callMs: number[] = [];
  let isDone = false;
  const probe = async (): Promise<void> => {
    while (!isDone) {
      const asked = performance.now();
      await client.listChains();
      callMs.push(performance.now() - asked);
      await wait(20);
    }
  };
  sink.expect(BLOCKS);
  const started = performance.now();
  await sluice.backfill(id, range);
  const probing = probe();
  await until(
    'the backfill is done',
    async () => (await client.listJobs({ streamId: id })).every(({ state }) => state === 'done'),
    PATIENCE_MS,
    20,
  );
  const seconds = (performance.now() - started) / 1_000;
  isDone = true;
  await Promise.all([probing, sink.complete()]);
  return { seconds, callMs };
}

async function dryRun({ url }: Sluice, streamId: string, from: number): Promise<number> {
  const client = createSluiceClient({ apiKey: API_KEY, baseUrl: url });
  const started = performance.now();
  for (let block = from; block < from + TRIED_BLOCKS; block++) {
    await client.dryRunEvm('0x7a69', { streamId, block });
  }
  return (performance.now() - started) / 1_000;
}

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;

const listAddresses = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `0x${Buffer.from(addressBytes(n)).toString('hex')}`);
