/** Tests blocks that cannot be fully verified, with a complete service. */
import { type RunningScriptedChain, scripted, startScriptedChain } from '@sluice/testkit';
import { test as base, expect } from 'vitest';
import {
  API_KEY,
  CHAIN,
  CONFIRMATIONS,
  type IngestWorld,
  OTHER,
  TOKEN,
  WATCHED,
  createIngestWorld,
} from '../../../ingest/ingestWorld.test-only.ts';

const test = base.extend<{ world: IngestWorld }>({
  // oxlint-disable-next-line no-empty-pattern
  world: async ({}, use) => {
    const world = await createIngestWorld();
    await use(world);
    await world.stop();
  },
});

/** The node has no receipt of the last transaction of a block. */
const lackReceipt = (node: RunningScriptedChain): void => {
  node.trouble({ kind: 'truncatedReceipts' });
  node.trouble({ kind: 'nullReceipts', methods: ['eth_getTransactionReceipt'] });
};
const twoTransfers = () => ({
  transactions: [7n, 8n].map((value) =>
    scripted.erc20Transfer({ token: TOKEN, from: OTHER, to: WATCHED, value }),
  ),
});

const readMetric = async ({ service }: IngestWorld): Promise<string | undefined> => {
  const response = await fetch(`${service.url}/metrics`, { headers: { 'x-api-key': API_KEY } });
  return (await response.text())
    .split('\n')
    .find((line) => line.startsWith('sluice_chain_unverified_blocks{'));
};

const CODE = 'receipts';

test(
  'a block that a single node returns without a receipt settles, and is marked',
  { timeout: 120_000 },
  async ({ world }) => {
    const streamId = await world.startWatching();
    lackReceipt(world.chain);
    const mined = world.chain.mine(twoTransfers());
    const health = await world.until('the block is settling', async () => {
      const found = await world.health();
      return found.state === 'settling' && found;
    });
    expect(health.message).toMatch(
      /block 1 is not proven \(a transaction has no receipt\).*120 s.*--chain 0x7a69=<rpcUrl>/,
    );
    expect(health).toMatchObject({ checkpoint: 0, unverified: null });
    expect(await world.readDeliveries()).toEqual([]);

    await world.service.stop();
    await world.start({ settle: 1.5 });
    await world.caughtUp();
    world.chain.heal();
    world.chain.mineMany(CONFIRMATIONS);
    await world.expectOracle(1);
    const number = Number(mined.number);
    expect((await world.health()).unverified).toEqual({
      blocks: 1,
      latest: number,
      byCode: { [CODE]: 1 },
    });
    expect((await world.sluice.getCoverage(streamId))[0]!.unverified).toEqual([
      { from: number, to: number, codes: [CODE] },
    ]);
    expect(await readMetric(world)).toBe(
      `sluice_chain_unverified_blocks{chain="${CHAIN}",code="${CODE}"} 1`,
    );
  },
);

test(
  'a block that heals while it settles is delivered without a mark',
  { timeout: 120_000 },
  async ({ world }) => {
    await world.startWatching();
    lackReceipt(world.chain);
    world.chain.mine(twoTransfers());
    await world.until('it settles', async () => (await world.health()).state === 'settling');
    world.chain.heal();
    world.chain.mineMany(CONFIRMATIONS);
    await world.expectOracle(1);
    expect(await world.health()).toMatchObject({ state: 'live', unverified: null });
  },
);

test(
  'blocks settle in parallel: a chain whose blocks all deviate stays behind by the wait alone',
  { timeout: 120_000 },
  async ({ world }) => {
    const SETTLE_MS = 3_000;
    await world.startWatching({ settle: SETTLE_MS / 1_000 });
    lackReceipt(world.chain);
    const BLOCKS = 30;
    for (let n = 0; n < BLOCKS; n++) {
      world.chain.mine(twoTransfers());
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const mined = performance.now();
    await world.caughtUp();
    // In series, the blocks would take 30 times the wait.
    expect(performance.now() - mined).toBeLessThan(10 * SETTLE_MS);
    expect((await world.health()).unverified).toMatchObject({ blocks: BLOCKS });
  },
);

test(
  'with two nodes that agree the block is accepted, and a reorg removes its mark',
  { timeout: 120_000 },
  async ({ world }) => {
    const other = await startScriptedChain({ chain: world.chain });
    const streamId = await world.startWatching({ urls: [world.chain.url, other.url] });
    for (const node of [world.chain, other]) lackReceipt(node);
    world.chain.mine(twoTransfers());
    await world.caughtUp();
    expect((await world.health()).unverified).toEqual({
      blocks: 1,
      latest: 1,
      byCode: { [CODE]: 1 },
    });
    for (const node of [world.chain, other]) node.heal();
    world.chain.fork({ depth: 1, blocks: CONFIRMATIONS + 1 });
    await world.expectOracle(1);
    expect((await world.health()).unverified).toBeNull();
    expect((await world.sluice.getCoverage(streamId))[0]!.unverified).toEqual([]);
    await world.service.stop();
    await other.stop();
  },
);
