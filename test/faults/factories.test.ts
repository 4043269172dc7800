/** Tests service processes that are killed while a factory creates the contracts that a stream watches. */
import type { EvmWebhook } from '@sluice/kit/contract';
import { createSluiceClient } from '@sluice/kit/sluice';
import { type BlockScript, type ScriptedLog, until } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY } from '../serve.ts';
import { CHAIN, type FaultWorld, STORES, startWorld } from './world.ts';

/** Number of blocks in the branches that the service sees, about half of them after a reorg. */
const BLOCKS = Number(process.env['CHILD_BLOCKS'] ?? 72);
/** Maximum number of blocks that are mined before a kill. */
const BLOCKS_PER_KILL = 100;
const KILLS = Math.max(12, Math.ceil(BLOCKS / BLOCKS_PER_KILL));
const BLOCKS_AT_ONCE = Math.ceil(BLOCKS / KILLS);
/** Maximum depth of a reorg, and its probability after each block. */
const REORG_DEPTH = 3;
const REORG_SHARE = 0.2;
/** Number of children that a block creates. */
const CHILDREN = 3;
/** Number of children in one block of each run. */
const MANY = 500;
/** Maximum wait before a kill. */
const RUN_MS = 400;
/** Time per block in which all webhooks must arrive after the last kill, and that the test may take. */
const SETTLE_MS_PER_BLOCK = 100;
const MS_PER_BLOCK = 300;

/** Number of an address that is not a child. */
const STRANGER = 1_000_000;

const FACTORY = `0x${'fa'.repeat(20)}` as const;
const EVENT = 'Created(address indexed child)';
/** Topic of the event. */
const CREATED = '0x1449abf21e49fd025f33495e77f7b1461caefdd3d4bb646424a3f445c4576a5b';

const addressOf = (n: number) => `0x${(0xc0_0000 + n).toString(16).padStart(40, '0')}` as const;
const created = (n: number): ScriptedLog => ({
  address: FACTORY,
  topics: [CREATED, `0x${addressOf(n).slice(2).padStart(64, '0')}`],
});
const ping = (n: number): ScriptedLog => ({
  address: addressOf(n),
  topics: [`0x${'0e'.repeat(32)}`],
});

/** A mined block, with the children that it adds and the emitters that its webhook must have. */
interface Mined {
  hash: string;
  number: number;
  added: readonly number[];
  emitters: readonly string[];
}

/** A chain of blocks that create children, and what a stream of the factory must get from it. */
function createChildChain({ chain }: Pick<FaultWorld, 'chain'>) {
  const branch: Mined[] = [];
  const known = new Set<number>();
  const left: number[] = [];
  const mined: Mined[] = [];
  let next = 0;

  /** Plans a block after the branch. A child that left with a reorg may be created again. */
  const plan = (count: number): { script: BlockScript; block: Omit<Mined, 'hash' | 'number'> } => {
    const added = Array.from({ length: count }, (_, n) =>
      n === 0 && left.length > 0 && Math.random() < 0.5 ? left.shift()! : next++,
    );
    // Some events of a constructor come before the log of the factory.
    const logs = [
      ...added.slice(0, 2).map(ping),
      ...added.map(created),
      ...[...known].slice(0, 1).map(ping),
      ...[...known].slice(-1).map(ping),
      ...left.slice(0, 2).map(ping),
      ping(STRANGER),
    ];
    for (const child of added) known.add(child);
    const watched = new Set<string>([FACTORY, ...[...known].map(addressOf)]);
    const emitters = logs.map(({ address }) => address).filter((each) => watched.has(each));
    return { script: { transactions: [{ to: FACTORY, logs }] }, block: { added, emitters } };
  };
  const add = (
    block: Omit<Mined, 'hash' | 'number'>,
    { hash, number }: { hash: string; number: bigint },
  ): void => {
    branch.push({ ...block, hash, number: Number(number) });
    mined.push(branch.at(-1)!);
  };

  return {
    /** The canonical blocks. */
    branch,
    /** All blocks, including removed ones. */
    mined,
    /** The children on the canonical branch. */
    known,
    mine(count = CHILDREN): void {
      const { script, block } = plan(count);
      add(block, chain.mine(script));
    },
    /** Replaces the newest blocks by one more. */
    reorg(depth: number): void {
      for (const { added } of branch.splice(-depth)) {
        for (const child of added) known.delete(child);
        left.push(...added);
      }
      const planned = Array.from({ length: depth + 1 }, () => plan(CHILDREN));
      const blocks = chain.fork({ depth, blocks: planned.map(({ script }) => script) });
      for (const [n, { block }] of planned.entries()) add(block, blocks[n]!);
    },
  };
}

describe.each(STORES)('on %s', (store) => {
  let world: FaultWorld;

  beforeAll(async () => {
    world = await startWorld(store);
  });
  afterAll(() => world?.stop());

  test(
    `fault 2: ${KILLS} kill -9 at any moment while children are created, found and removed`,
    async () => {
      const children = createChildChain(world);
      for (let n = 0; n < 8; n++) children.mine();
      const past = new Set<string>([...children.known].map(addressOf));
      world.mine([], 3);
      const head = Number(world.chain.head.number);
      await until('the chain is live', async () => (await world.health()).checkpoint === head);
      const { id } = await world.client().streams.create({
        webhookUrl: `${world.receiver.url}/children`,
        description: '',
        tag: 'children',
        chainIds: [CHAIN],
        includeContractLogs: true,
        factories: [{ address: FACTORY, event: EVENT, parameter: 'child', from: 0 }],
      });
      const from = head + 1;
      const mineSome = (count: number): void => {
        for (let left = count; left > 0; left--) {
          const removable = children.branch.filter(({ number }) => number >= from).length;
          const depth = Math.min(removable, Math.ceil(Math.random() * REORG_DEPTH));
          if (depth > 0 && Math.random() < REORG_SHARE) {
            children.reorg(depth);
            left -= depth;
          } else children.mine();
        }
      };
      for (let kill = 0; kill < KILLS; kill++) {
        if (kill === 3) children.mine(MANY);
        mineSome(BLOCKS_AT_ONCE);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * RUN_MS));
        await world.kill();
        await world.start();
      }
      const sluice = () => createSluiceClient({ apiKey: API_KEY, baseUrl: world.service.url });
      const settle = (): Promise<true> =>
        until(
          'all blocks are matched and searched',
          async () => {
            const jobs = await sluice().listJobs({ streamId: id });
            const { checkpoint } = await world.health();
            const queue = await sluice().listDeliveries({ limit: 1, state: ['pending', 'leased'] });
            return (
              checkpoint === Number(world.chain.head.number) &&
              jobs.every(({ state }) => state === 'done') &&
              queue.result.length === 0
            );
          },
          120_000 + BLOCKS * SETTLE_MS_PER_BLOCK,
        );
      world.mine([], 3);
      await settle();
      const { total } = await sluice().listChildren(id);
      expect(total).toBe(children.known.size);

      // The blocks before the past children were found are a hole.
      const [coverage] = await sluice().getCoverage(id);
      for (const { from: blockFrom, to: blockTo, reason } of coverage!.holes) {
        expect(reason).toBe('children');
        const job = { chainId: CHAIN, streamId: id, blockFrom, blockTo };
        await world.client().streams.createHistoricalJob(job);
      }
      await settle();
      expect((await sluice().getCoverage(id))[0]!.holes).toEqual([]);

      const received = new Map<string, string[][]>();
      for (const { path, body } of world.receiver.requests) {
        const webhook = JSON.parse(body) as EvmWebhook;
        if (path !== '/children' || webhook.logs.length === 0) continue;
        const emitters = webhook.logs.map(({ address }) => address);
        const known = received.get(webhook.block.hash) ?? [];
        received.set(webhook.block.hash, [...known, emitters]);
      }
      const expected = new Map(children.mined.map(({ hash, emitters }) => [hash, emitters]));
      for (const [hash, webhooks] of received) {
        // Webhooks of past children start once the search has found them.
        const others = (some: readonly string[]): string[] =>
          some.filter((each) => !past.has(each));
        for (const emitters of webhooks) {
          expect(others(emitters), hash).toEqual(others(expected.get(hash)!));
        }
      }
      for (const { hash, number, emitters } of children.branch) {
        if (number < from) continue;
        expect(received.get(hash), `block ${number}`).toContainEqual(emitters);
      }
    },
    900_000 + BLOCKS * MS_PER_BLOCK,
  );
});
