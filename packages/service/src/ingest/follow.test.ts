import { expect, test } from 'vitest';
import { createLog } from '../base/log.ts';
import type { BlockHeader } from '../store/blocks/contract.ts';
import { createFollower } from './follow.ts';

const header = (number: number, branch = 'a', parent = branch): BlockHeader => ({
  number,
  hash: `${branch}${number}`,
  parentHash: `${parent}${number - 1}`,
  timestamp: number,
});

/**
 * Creates a local chain of blocks 1 to 3 that follows a source with the `known` headers. `calls`
 * lists the changes of the chain, and the doubted blocks.
 */
function open(
  known: BlockHeader[],
  options: { isFinal?: boolean; resetWhenReplaced?: boolean; isDevnet?: boolean } = {},
  { head = header(9, 'head'), genesis = 'genesis' } = {},
) {
  const calls: string[] = [];
  const why: string[] = [];
  let window = [header(3), header(2), header(1)];
  const following = createFollower(
    { chain: '0x1', flag: '--chain', ...options },
    {
      source: {
        readHeader: (at) =>
          Promise.resolve(known.find(({ number, hash }) => at === number || at === hash)),
        readHead: () => Promise.resolve(head),
        readGenesisHash: () => Promise.resolve(genesis),
        doubt: (hash) => void calls.push(`doubt ${hash}`),
      },
      local: {
        window: () => window,
        tip: () => window[0],
        load: () => Promise.resolve(),
        readCheckpoint: () => Promise.resolve({ ...window[0]!, genesisHash: 'genesis' }),
        rewind(_, removed) {
          calls.push(`rewind ${removed}`);
          window = window.slice(removed);
          return Promise.resolve();
        },
        startAt({ hash }, _, gap) {
          calls.push(`start at ${hash}, hole from ${gap?.holeFrom}`);
          why.push(gap?.why ?? '');
          return Promise.resolve();
        },
      },
      committing: {
        readHeader: (number) => Promise.resolve(known.find((each) => each.number === number)),
        commit(block) {
          calls.push(`commit ${block.hash}`);
          window = [block, ...window];
          return Promise.resolve();
        },
        passOver: () => Promise.resolve(false),
        clear: () => calls.push('clear'),
      },
      onReorg: (depth) => calls.push(`reorg ${depth}`),
      log: createLog(() => {}),
      signal: new AbortController().signal,
    },
  );
  return { following, calls, why };
}

const fork = [header(2, 'b', 'a'), header(3, 'b'), header(4, 'b')];

test('a reorg removes blocks before it commits the other branch in order', async () => {
  const { following, calls } = open(fork);
  await following.follow(fork[2]!);
  expect(calls).toEqual([
    ...['clear', 'rewind 2', 'reorg 2'],
    ...['commit b2', 'commit b3', 'commit b4'],
  ]);
});

test('a chain that cannot fork halts on another branch, and removes nothing', async () => {
  const { following, calls } = open(fork, { isFinal: true });
  await expect(following.follow(fork[0]!)).rejects.toMatchObject({ code: 'chain_halted' });
  await expect(following.follow(fork[2]!)).rejects.toThrow(
    /does not fork: the node serves a different chain/,
  );
  expect(calls).toEqual([]);
});

test('an invented parent is not a reorg, and its block is doubted', async () => {
  const { following, calls } = open([]);
  await expect(following.follow(fork[2]!)).rejects.toThrow('parent b3 of block 4 is missing');
  expect(calls).toEqual(['doubt b4']);
});

test('a branch from below the window halts the chain, or restarts one that may be replaced', async () => {
  const deep = [0, 1, 2, 3].map((number) => header(number, 'c'));
  const halting = open(deep);
  await expect(halting.following.follow(deep[3]!)).rejects.toMatchObject({ code: 'chain_halted' });
  expect(halting.calls).toEqual(['clear']);
  const devnet = open(deep, { isDevnet: true });
  await devnet.following.follow(deep[3]!);
  expect(devnet.calls).toEqual(['clear', 'start at head9, hole from 1']);
});

test('a chain of another genesis is followed from its first block, or from its head if it is long', async () => {
  const deep = [0, 1, 2, 3].map((number) => header(number, 'c'));
  const other = { genesis: 'other', head: header(2, 'c') };
  const anew = open(deep, { resetWhenReplaced: true }, other);
  await anew.following.follow(deep[2]!);
  expect(anew.calls).toEqual(['clear', 'start at c0, hole from undefined']);
  expect(anew.why[0]).toContain('The earlier chain ended at block 3');
  const long = open(deep, { resetWhenReplaced: true }, { ...other, head: header(20_000, 'c') });
  await long.following.follow(deep[2]!);
  expect(long.calls).toEqual(['clear', 'start at c20000, hole from undefined']);
  const halting = open(deep, { isDevnet: true }, other);
  await expect(halting.following.follow(deep[2]!)).rejects.toThrow(
    /follow the new one: sluice chains resume 0x1 --from <block>/,
  );
});

test('a devnet with the same genesis counts as restarted if its head is lower and newer; an older head is waited for', async () => {
  const deep = [0, 1, 2].map((number) => header(number, 'c'));
  const young = { ...header(2, 'c'), timestamp: 9 };
  const anew = open(deep, { isDevnet: true }, { head: young });
  await anew.following.follow(young);
  expect(anew.calls).toEqual(['clear', 'start at c0, hole from undefined']);
  // Blocks of a devnet may have the same timestamp.
  for (const timestamp of [2, 3]) {
    const head = { ...header(2, 'c'), timestamp };
    const old = open(deep, { isDevnet: true }, { head });
    await expect(old.following.follow(deep[2]!)).rejects.toMatchObject({ kind: 'missing' });
    expect(old.calls).toEqual(['clear']);
  }
});

test('a final chain counts as restarted if its head is lower and newer', async () => {
  const young = { ...header(2, 'c'), timestamp: 9 };
  const known = [header(0, 'c'), young];
  const anew = open(known, { isFinal: true, resetWhenReplaced: true }, { head: young });
  expect(await anew.following.next(young)).toBeUndefined();
  expect(anew.calls).toEqual(['start at c0, hole from undefined']);
  const halting = open(known, { isFinal: true }, { head: young });
  await expect(halting.following.next(young)).rejects.toMatchObject({ code: 'chain_halted' });
  const lagging = open([], { isFinal: true }, { head: { ...young, timestamp: 3 } });
  expect(await lagging.following.next({ ...young, timestamp: 3 })).toBeUndefined();
});

test('a devnet that goes back is rolled back once no node has its newest block', async () => {
  const back = header(1);
  const gone = open([header(1)], { isDevnet: true }, { head: back });
  expect(await gone.following.next(back)).toBeUndefined();
  expect(gone.calls).toEqual(['clear', 'rewind 2', 'reorg 2']);
  for (const [known, options, head] of [
    // Another node still has the newest block, the head moved on, or the chain is not a devnet.
    [[header(1), header(3)], { isDevnet: true }, back],
    [[header(1)], { isDevnet: true }, header(4)],
    [[header(1)], {}, back],
  ] as const) {
    const lagging = open([...known], options, { head });
    expect(await lagging.following.next(back)).toBeUndefined();
    expect(lagging.calls).toEqual([]);
  }
});

test('a devnet whose removed block returns gets twice the time before the next rollback', async () => {
  const back = header(1);
  const { following, calls } = open([back], { isDevnet: true }, { head: back });
  const timeRollback = async (): Promise<number> => {
    const startedAt = performance.now();
    await following.next(back);
    return performance.now() - startedAt;
  };
  expect(await timeRollback()).toBeGreaterThan(900);
  await following.follow(header(2));
  expect(await timeRollback()).toBeGreaterThan(1_900);
  expect(calls.filter((call) => call.startsWith('rewind'))).toEqual(['rewind 2', 'rewind 1']);
});

test('next returns the block after the tip, or a head of another branch', async () => {
  const { following } = open([header(4), header(5)]);
  expect(await following.next(header(5))).toEqual(header(4));
  expect(await following.next(header(3))).toBeUndefined();
  expect(await following.next(header(2, 'b'))).toEqual(header(2, 'b'));
  await expect(open([]).following.next(header(5))).rejects.toThrow(
    'block 4 is missing below head 5',
  );
  // If a chain cannot fork, a lower head means only that the node lags.
  expect(await open([], { isFinal: true }).following.next(header(2, 'b'))).toBeUndefined();
});

test('heights without a block are skipped if the next block follows the tip', async () => {
  const after: BlockHeader = { ...header(6), parentHash: 'a3' };
  const { following, calls } = open([after]);
  expect(await following.next(header(9))).toBe(after);
  await following.follow(after);
  expect(calls).toEqual(['commit a6']);
});

test('a missing block is not skipped if the next block does not follow the tip', async () => {
  const { following } = open([header(6)]);
  await expect(following.next(header(9))).rejects.toThrow('block 4 is missing below head 9');
});
