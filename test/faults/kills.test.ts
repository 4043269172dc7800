/**
 * Tests that every matching block has exactly one unconfirmed and one confirmed delivery, even if
 * the process is killed, and that the receiver gets each delivery at least once.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import type { DeliverySummary } from '@sluice/kit/contract';
import { createSluiceClient } from '@sluice/kit/sluice';
import { type Anvil, type WebhookSink, startAnvil, startWebhookSink, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';

/** Number of kills. The soak makes more; `test/faults` kills at specific moments. */
const KILLS = 8;
const CONFIRMATIONS = 3;

const folder = mkdtempSync(join(tmpdir(), 'sluice-kill-'));
let anvil: Anvil;
let sink: WebhookSink;

beforeAll(async () => {
  anvil = await startAnvil();
  sink = await startWebhookSink();
});
afterAll(async () => {
  await anvil.stop();
  await sink.close();
  rmSync(folder, { recursive: true });
});

/**
 * Sends a transfer every 40 ms until stopped. Two out of three transfers go to the watched address.
 */
function mineTransfers(watched: string): { stop(): Promise<void> } {
  let stopped = false;
  const running = (async () => {
    for (let n = 0; !stopped; n++) {
      const to = n % 3 === 0 ? anvil.accounts[7]!.address : watched;
      await anvil.request('eth_sendTransaction', [
        { from: anvil.accounts[n % 2]!.address, to, value: '0x1' },
      ]);
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
  })();
  return {
    async stop() {
      stopped = true;
      await running;
    },
  };
}

/**
 * Returns the numbers of the blocks, starting at `from`, with a transfer to the watched address, as
 * read from the node.
 */
async function readMatching(watched: string, from: number): Promise<number[]> {
  const head = Number(await anvil.request('eth_blockNumber'));
  const matching: number[] = [];
  for (let number = from; number <= head; number++) {
    const block = await anvil.request<{ transactions: { to: string }[] }>('eth_getBlockByNumber', [
      `0x${number.toString(16)}`,
      true,
    ]);
    if (block.transactions.some((each) => each.to === watched.toLowerCase())) matching.push(number);
  }
  return matching;
}

test(`after ${KILLS} kill -9 every matching block is delivered, once per phase`, async () => {
  const args = [
    '--data',
    join(folder, 'data'),
    '--chain',
    `0x7a69=${anvil.url},confirmations=${CONFIRMATIONS},poll=50`,
  ];
  const watched = anvil.accounts[5]!.address;

  let service: Served = await serve(args);
  const client = createClient({ apiKey: API_KEY, baseUrl: service.url });
  await until('the chain is read', async () => {
    const chains = await createSluiceClient({ apiKey: API_KEY, baseUrl: service.url }).listChains();
    return chains.every(({ checkpoint }) => checkpoint !== null);
  });
  const stream = await client.streams.create({
    webhookUrl: sink.url,
    description: 'transfers',
    tag: 'kill',
    chainIds: ['0x7a69'],
    includeNativeTxs: true,
  });
  const added = await client.streams.addAddress(stream.id, watched);
  const from = added.effectiveFrom?.['0x7a69'] ?? Number.NaN;

  const transfers = mineTransfers(watched);
  const moments: number[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const moment = Math.round(Math.random() * 400);
    moments.push(moment);
    await new Promise((resolve) => setTimeout(resolve, moment));
    await service.kill();
    service = await serve(args);
  }
  await transfers.stop();
  const matching = await readMatching(watched, from);
  await anvil.request('anvil_mine', [`0x${CONFIRMATIONS.toString(16)}`]);
  const context = `kills after ms: ${moments.join(' ')}`;
  expect(matching.length, context).toBeGreaterThan(20);

  const sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: service.url });
  const readAll = async (): Promise<DeliverySummary[]> => {
    const all: DeliverySummary[] = [];
    let cursor: string | undefined;
    do {
      const page = await sluice.listDeliveries({ limit: 100, ...(cursor && { cursor }) });
      all.push(...page.result);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return all;
  };
  const stuck = async (): Promise<string> =>
    JSON.stringify((await readAll()).filter((each) => each.state !== 'succeeded').slice(0, 5));
  const deliveries = await until(
    'every delivery succeeds',
    async () => {
      const all = await readAll();
      return (
        all.length >= 2 * matching.length && all.every((each) => each.state === 'succeeded') && all
      );
    },
    120_000,
  ).catch(async (error: Error) => {
    throw new Error(
      `${error.message}; ${matching.length} blocks match; waiting: ${await stuck()}; ${context}; ${service.output()}`,
    );
  });

  const rows = deliveries.map((each) => `${each.blockNumber} ${each.phase}`).toSorted();
  const expected = matching.flatMap((block) => [`${block} confirmed`, `${block} unconfirmed`]);
  expect(rows, context).toEqual(expected.toSorted());

  const seen = new Set(sink.requests.map((request) => request.id));
  expect(
    deliveries.filter((each) => !seen.has(each.id)),
    context,
  ).toEqual([]);
  expect(await service.stop()).toBe(0);
}, 300_000);
