/** Tests blocks that cannot be fully verified, with a complete service. */
import { scripted, startScriptedChain } from '@sluice/testkit';
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
} from '../ingestWorld.test-only.ts';

const test = base.extend<{ world: IngestWorld }>({
  // oxlint-disable-next-line no-empty-pattern
  world: async ({}, use) => {
    const world = await createIngestWorld();
    await use(world);
    await world.stop();
  },
});

const GAP = { kind: 'gappedIndices', by: 2 } as const;
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

test(
  'with a single node the chain stops and names the option; once accepted, the block is marked',
  { timeout: 120_000 },
  async ({ world }) => {
    const streamId = await world.startWatching();
    world.chain.trouble(GAP);
    const mined = world.chain.mine(twoTransfers());
    const health = await world.until('the chain is down', async () => {
      const found = await world.health();
      return found.state === 'down' && found;
    });
    expect(health.message).toContain('--chain 0x7a69=<rpcUrl>,accept=unverified');
    expect(health).toMatchObject({ checkpoint: 0, unverified: null });
    expect(await world.readDeliveries()).toEqual([]);

    await world.service.stop();
    await world.start({ acceptUnverified: true });
    await world.caughtUp();
    world.chain.heal();
    world.chain.mineMany(CONFIRMATIONS);
    await world.expectOracle(1);
    const reason = 'gap in log indices (accept=unverified)';
    const number = Number(mined.number);
    expect((await world.health()).unverified).toEqual({ blocks: 1, latest: number, reason });
    expect((await world.sluice.getCoverage(streamId))[0]!.unverified).toEqual([
      { from: number, to: number, reason },
    ]);
    expect(await readMetric(world)).toBe(`sluice_chain_unverified_blocks{chain="${CHAIN}"} 1`);
    const { body } = world.sink.requests.find((request) => request.body.includes('logIndex'))!;
    const { logs } = JSON.parse(body) as { logs: { logIndex: string }[] };
    expect(logs.map(({ logIndex }) => logIndex)).toEqual(['0', '3']);
  },
);

test(
  'with two nodes that agree the block is accepted, and a reorg removes its mark',
  { timeout: 120_000 },
  async ({ world }) => {
    const other = await startScriptedChain({ chain: world.chain });
    const streamId = await world.startWatching({ urls: [world.chain.url, other.url] });
    for (const node of [world.chain, other]) node.trouble(GAP);
    world.chain.mine(twoTransfers());
    await world.caughtUp();
    const reason = 'gap in log indices (2 nodes agree)';
    expect((await world.health()).unverified).toEqual({ blocks: 1, latest: 1, reason });
    for (const node of [world.chain, other]) node.heal();
    world.chain.fork({ depth: 1, blocks: CONFIRMATIONS + 1 });
    await world.expectOracle(1);
    expect((await world.health()).unverified).toBeNull();
    expect((await world.sluice.getCoverage(streamId))[0]!.unverified).toEqual([]);
    await world.service.stop();
    await other.stop();
  },
);
