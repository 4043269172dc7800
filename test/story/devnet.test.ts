/** Tests local chains that restart or go back, with a real anvil. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import type { ChainHealth } from '@sluice/kit/contract';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import { type Anvil, type WebhookSink, startAnvil, startWebhookSink, until } from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';

const CHAIN = '0x7a69';
const CONFIRMATIONS = 3;

let folder: string;
let anvil: Anvil;
let sink: WebhookSink;
let served: Served;
let sluice: SluiceClient;
let streamId: string;
let watched: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-devnet-'));
  anvil = await startAnvil();
  sink = await startWebhookSink();
});
afterEach(async () => {
  await served?.stop();
  await sink.close();
  await anvil.stop();
  rmSync(folder, { recursive: true });
});

/** Starts the service on anvil's HTTP or WebSocket URL, with a stream that reports removals. */
async function start(url: string): Promise<void> {
  served = await serve([
    ...['--data', join(folder, 'data')],
    ...['--chain', `${CHAIN}=${url},confirmations=${CONFIRMATIONS}`],
  ]);
  const connection = { apiKey: API_KEY, baseUrl: served.url };
  sluice = createSluiceClient(connection);
  await isAt(0);
  watched = anvil.accounts[5]!.address.toLowerCase();
  const { streams } = createClient(connection);
  const { id } = await streams.create({
    webhookUrl: `${sink.url}/hook`,
    description: '',
    tag: 'dev',
    chainIds: [CHAIN],
    includeNativeTxs: true,
    notifyRemoved: true,
  });
  await streams.addAddress(id, watched);
  streamId = id;
}

const health = async (): Promise<ChainHealth> => (await sluice.listChains())[0]!;
const isAt = (number: number): Promise<unknown> =>
  until(
    `the chain is live at block ${number}`,
    async () => {
      const { state, head, checkpoint } = await health();
      return state === 'live' && head === number && checkpoint === number;
    },
    90_000,
  );

/** Pays the watched account in a block of its own, and returns the hash of the transaction. */
async function pay(): Promise<string> {
  return anvil.request<string>('eth_sendTransaction', [
    { from: anvil.accounts[0]!.address, to: watched, value: '0x1' },
  ]);
}

const mine = (blocks: number): Promise<unknown> => anvil.request('anvil_mine', [blocks]);

interface Body {
  streamId: string;
  confirmed: boolean;
  removed?: boolean;
  txs: { hash: string }[];
}

/** Returns the transactions of the deliveries so far, with the phase of each. */
const received = (): string[] =>
  sink.requests
    .map(({ body }) => JSON.parse(body) as Body)
    .filter((body) => body.streamId === streamId)
    .map(({ txs, confirmed, removed }) => {
      const phase = removed ? 'removed' : confirmed ? 'confirmed' : 'unconfirmed';
      return `${phase} ${txs[0]!.hash}`;
    });
const isReceived = (delivery: string): Promise<unknown> =>
  until(`received ${delivery}`, () => received().includes(delivery), 90_000);

describe.each(['url', 'wsUrl'] as const)('a local chain at its %s', (url) => {
  test('that restarts is followed from its first block, and announced', async () => {
    await start(anvil[url]);
    await mine(299);
    await pay();
    await isAt(300);
    const { port } = anvil;
    await anvil.kill();
    anvil = await startAnvil({ port });
    const first = await pay();
    await mine(CONFIRMATIONS);
    // The message ends a while after the restart.
    await until('the restart is announced', async () =>
      (await health()).message.includes('restarted'),
    );
    await isAt(1 + CONFIRMATIONS);
    await isReceived(`confirmed ${first}`);
    expect(served.output()).toContain('chain restarted');
    const [gap] = await sluice.listGaps({ chain: CHAIN });
    expect(gap).toMatchObject({ kind: 'restarted', to: 0 });
    expect(gap!.reason).toMatch(/^block 0 is 0x.*The earlier chain ended at block 300/);
    expect(await sluice.getCoverage(streamId)).toMatchObject([
      { from: 1, to: 1 + CONFIRMATIONS, holes: [] },
    ]);
    const { streams, stages } = await sluice.explain(first, { chain: CHAIN });
    expect(streams).toMatchObject([{ verdict: 'delivered' }]);
    expect(stages.every(({ outcome }) => outcome === 'passed')).toBe(true);
  });

  test('that goes back is rolled back without a new block', async () => {
    await start(anvil[url]);
    await mine(4);
    const snapshot = await anvil.request('evm_snapshot');
    const gone = await pay();
    await isReceived(`unconfirmed ${gone}`);
    await isAt(5);
    await anvil.request('evm_revert', [snapshot]);
    await isAt(4);
    await isReceived(`removed ${gone}`);
    const again = await pay();
    await mine(CONFIRMATIONS);
    await isReceived(`confirmed ${again}`);
    await isAt(5 + CONFIRMATIONS);
    expect(received().filter((each) => each.endsWith(gone))).toHaveLength(again === gone ? 4 : 2);
  });
});

test('a local chain that keeps its state across a restart goes on, without a gap', async () => {
  await anvil.stop();
  const statePath = join(folder, 'state.json');
  anvil = await startAnvil({ statePath });
  await start(anvil.url);
  const before = await pay();
  await mine(2);
  await isAt(3);
  const { port } = anvil;
  await anvil.stop();
  anvil = await startAnvil({ statePath, port });
  await mine(CONFIRMATIONS);
  await isReceived(`confirmed ${before}`);
  await isAt(3 + CONFIRMATIONS);
  expect((await health()).message).toBe('');
  expect(
    (await sluice.listGaps({ chain: CHAIN })).filter(({ kind }) => kind !== 'passed-over'),
  ).toEqual([]);
});
