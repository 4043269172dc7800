/** Tests nodes that lag or lie, chains that fork, and blocks missed during downtime. */
import { createSluiceClient } from '@sluice/kit/sluice';
import {
  type BlockScript,
  type RunningScriptedChain,
  type Trouble,
  createScriptedChain,
  scripted,
  startScriptedChain,
  until,
} from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY } from '../serve.ts';
import { CHAIN, type FaultWorld, STORES, type Watch, startWorld } from './world.ts';

/** Size of the window in blocks. A deeper reorg halts the chain. */
const WINDOW_BLOCKS = 256;
const BLOCK_READS = ['eth_getBlockByNumber', 'eth_getBlockByHash'];
const PART_READS = [...BLOCK_READS, 'eth_getLogs', 'eth_getBlockReceipts'];

describe.each(STORES)('on %s', (store) => {
  let world: FaultWorld;

  beforeAll(async () => {
    world = await startWorld(store);
  });
  afterAll(() => world?.stop());

  const branchOf = (watches: readonly Watch[], length: number): BlockScript[] =>
    Array.from({ length }, () => ({ transactions: world.transactionsOf(watches) }));

  /**
   * Mines a block while the node fails, and expects it to be delivered only after the node
   * recovers.
   */
  const holdBlock = async (trouble: Trouble, watch: Watch): Promise<void> => {
    world.chain.trouble(trouble);
    const before = readsOf(world.chain);
    const [block] = world.mine([watch]);
    // The service keeps requesting the block, and never accepts an incomplete or wrong one.
    await until('the block is requested again', () => readsOf(world.chain) > before + 8);
    const number = Number(block!.number);
    expect((await world.health()).checkpoint).toBeLessThan(number);
    expect(await world.ledger.value('select max(number) from checkpoint')).toBeLessThan(number);
    world.chain.heal();
    await world.holds([watch]);
  };

  /**
   * Expects a complete webhook although the node fails, because the node still returns the
   * receipts, in a list or by hash.
   */
  const completeBlock = async (trouble: Trouble, watch: Watch): Promise<void> => {
    world.chain.trouble(trouble);
    world.mine([watch]);
    await world.holds([watch]);
    world.chain.heal();
  };

  // Runs first, because the service uses `eth_getLogs` only as long as all streams include only
  // logs.
  test.each<Trouble>([{ kind: 'lag', blocks: 3 }, { kind: 'emptyLogs' }])(
    'fault 18: a node behind a load balancer has too few logs: $kind',
    async (trouble) => {
      const watch = await world.watch(`logs-${trouble.kind}`, { includeNativeTxs: false });
      await completeBlock(trouble, watch);
      expectComplete(world, watch, 1, { txs: 0 });
    },
  );

  test('fault 18: the only node omits a log in every response: missingLog', async () => {
    const watch = await world.watch('logs-missing', { includeNativeTxs: false });
    await holdBlock({ kind: 'missingLog' }, watch);
    expectComplete(world, watch, 1, { txs: 0 });
  });

  test('fault 19: the only node lies about logs: foreignLogs', async () => {
    const watch = await world.watch('logs-foreign', { includeNativeTxs: false });
    // The roots of the header prove the logs, whichever block they claim to belong to.
    await completeBlock({ kind: 'foreignLogs' }, watch);
    expectComplete(world, watch, 1, { txs: 0 });
  });

  test('fault 18: a receipt missing from the list is read by hash', async () => {
    const watch = await world.watch('lacks-truncated');
    await completeBlock({ kind: 'truncatedReceipts' }, watch);
    expectComplete(world, watch, 1);
  });

  test.each<Trouble>([{ kind: 'withhold' }, { kind: 'nullReceipts' }])(
    'fault 18: a node behind a load balancer lacks the block or its receipts: $kind',
    async (trouble) => {
      const watch = await world.watch(`lacks-${trouble.kind}`);
      await holdBlock(trouble, watch);
      expectComplete(world, watch, 1);
    },
  );

  test.each<Trouble>([
    { kind: 'wrongParentHash' },
    { kind: 'wrongHash' },
    { kind: 'missingFirstLog' },
  ])('fault 19: the only node lies about the block: $kind', async (trouble) => {
    const watch = await world.watch(`lie-${trouble.kind}`);
    await holdBlock(trouble, watch);
    expectComplete(world, watch, 1);
  });

  test.each([1, 12, 64])('fault 20: a reorg %i blocks deep', async (depth) => {
    const plain = await world.watch('reorged');
    const notified = await world.watch('notified', { notifyRemoved: true });
    world.mine([plain, notified], depth);
    await world.holds([plain, notified]);
    world.chain.fork({ depth, blocks: branchOf([plain, notified], depth + 1) });
    await world.holds([plain, notified]);
    const removed = (watch: Watch): Promise<number> =>
      world.ledger.value(
        `select count(*) as n from delivery where phase = 'removed' and stream_id = '${watch.streamId}'`,
      );
    expect(await removed(plain)).toBe(0);
    expect(await removed(notified)).toBeGreaterThanOrEqual(depth);
  });

  test('fault 20: the chain switches from A to B and back to A', async () => {
    const plain = await world.watch('flip');
    const notified = await world.watch('flip-notified', { notifyRemoved: true });
    world.mine([plain, notified], 4);
    await world.holds([plain, notified]);
    const tip = world.chain.head.hash;
    world.chain.fork({ depth: 3, blocks: branchOf([plain, notified], 3) });
    await world.holds([plain, notified]);
    world.chain.switchTo(tip);
    world.mine([plain, notified], 1);
    await world.holds([plain, notified]);
    // `plain` gets no removal webhooks, so the blocks of the restored branch are not delivered to
    // it again.
    const twice = await world.ledger.rows(`
      select match_id, phase from delivery where stream_id = '${plain.streamId}'
      group by match_id, phase having count(*) > 1`);
    expect(twice).toEqual([]);
    const blocks = await world.ledger.rows<{ n: number }>(`
      select count(*) as n from match where stream_id = '${plain.streamId}' group by block_hash`);
    expect(blocks.every(({ n }) => n === 1)).toBe(true);
  });

  test('fault 21: a gap of 500 blocks after downtime', async () => {
    const watch = await world.watch('gap');
    await world.kill();
    world.mine([watch], 500);
    await world.start();
    await world.holds([watch]);
    expect(await isInOrder(world, watch)).toBe(true);
  });

  test('fault 21: duplicate and out-of-order heads', async () => {
    const watch = await world.watch('disorder');
    world.chain.trouble({ kind: 'lag', blocks: 2, methods: PART_READS, every: 2 });
    for (let n = 0; n < 10; n++) {
      const before = readsOf(world.chain);
      world.mine([watch], 2);
      await until('the service polls', () => readsOf(world.chain) > before);
    }
    world.chain.heal();
    await world.holds([watch]);
    expect(await isInOrder(world, watch)).toBe(true);
    expectComplete(world, watch, 20);
  });

  // Runs last, because it halts the chain that all tests share.
  test('fault 20: a reorg beyond the window halts the chain and records the hole', async () => {
    const watch = await world.watch('deep');
    world.mine([watch], WINDOW_BLOCKS + 40);
    await world.holds([watch]);
    const checkpoint = (await world.health()).checkpoint;
    world.chain.fork({
      depth: WINDOW_BLOCKS + 20,
      blocks: branchOf([watch], WINDOW_BLOCKS + 30),
    });
    await until('the chain halts', async () => (await world.health()).state === 'down');
    expect((await world.health()).message).toContain('sluice chains resume');
    expect((await world.health()).checkpoint).toBe(checkpoint);
    const sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: world.service.url });
    const from = Number(world.chain.head.number) - 5;
    await sluice.resumeChain(CHAIN, { from });
    const after = await world.watch('after-halt');
    world.mine([watch, after], 3);
    await world.holds([after]);
    const holes = await world.ledger.rows<{ from_block: number; to_block: number }>(
      'select from_block, to_block from hole where stream_id is null',
    );
    expect(holes.at(-1)).toMatchObject({ to_block: from - 1 });
  });
});

describe('several nodes', () => {
  const BODIES = ['foreignLogs', 'missingLog'] as const;
  const HEADERS = ['emptyBloom', 'wrongParentHash', 'wrongHash'] as const;
  const nodes: RunningScriptedChain[] = [];
  let world: FaultWorld;

  beforeAll(async () => {
    world = await startWorld('sqlite');
    // Adds a node of the same chain, and a node on a different branch.
    const own = createScriptedChain({ chainId: Number(CHAIN) });
    for (let n = 0; n < 40; n++) {
      const transfer = {
        from: `0x${'e'.repeat(40)}`,
        to: `0x${'f'.repeat(40)}`,
        value: 1n,
      } as const;
      own.mine({ transactions: [scripted.transfer(transfer)] });
    }
    for (const chain of [world.chain, own]) nodes.push(await startScriptedChain({ chain }));
    await world.service.stop();
    await world.start({ nodes });
  });
  afterAll(async () => {
    await world?.stop();
    for (const node of nodes) await node.stop();
  });

  test('fault 19: one of three nodes is on another branch, and one lies', async () => {
    const watch = await world.watch('outvoted');
    const lieAbout = async (kind: (typeof BODIES | typeof HEADERS)[number]): Promise<void> => {
      nodes[0]!.trouble({ kind, every: 2 });
      for (let block = 0; block < 4; block++) {
        world.mine([watch], 1);
        await world.holds([watch]);
      }
      nodes[0]!.heal();
    };
    for (const kind of BODIES) await lieAbout(kind);
    // A node that is caught with a wrong header loses its vote, so nothing would outvote the node on
    // the other branch.
    await nodes.pop()!.stop();
    for (const kind of HEADERS) await lieAbout(kind);
    await world.holds([watch]);
    expectComplete(world, watch, 4 * (BODIES.length + HEADERS.length));
    const disagreements = await world.metrics(/^sluice_rpc_disagreements/);
    expect(Math.max(...disagreements)).toBeGreaterThan(0);
  });
});

const readsOf = ({ calls }: RunningScriptedChain): number =>
  PART_READS.reduce((n, method) => n + (calls[method] ?? 0), 0);

/**
 * Expects a webhook for each of `blocks` blocks, with one log and `txs` transactions (default: 1).
 */
function expectComplete(
  world: FaultWorld,
  watch: Watch,
  blocks: number,
  { txs: wanted = 1 } = {},
): void {
  const bodies = world.receiver
    .requestsOf(watch)
    .map(({ body }) => JSON.parse(body) as { block: { hash: string }; logs: []; txs: [] });
  expect(new Set(bodies.map(({ block }) => block.hash)).size).toBe(blocks);
  for (const { logs, txs } of bodies) expect([logs.length, txs.length]).toEqual([1, wanted]);
}

/** Returns whether the stream's deliveries were created in the order of their blocks. */
async function isInOrder(world: FaultWorld, { streamId }: Watch): Promise<boolean> {
  const rows = await world.ledger.rows<{ created_at: number }>(`
    select created_at from delivery where stream_id = '${streamId}' and phase = 'unconfirmed'
    order by block_number`);
  return rows.every((row, n) => n === 0 || row.created_at >= rows[n - 1]!.created_at);
}
