import { expect, test } from 'vitest';
import { createLog } from '../base/log.ts';
import type { BlockHeader } from '../store/blocks/contract.ts';
import { createFollowing } from './ingest.ts';

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
  options: { isFinal?: boolean; resetWhenReplaced?: boolean } = {},
) {
  const calls: string[] = [];
  let window = [header(3), header(2), header(1)];
  const following = createFollowing(
    { chain: '0x1', ...options },
    {
      source: {
        readHeader: (at) =>
          Promise.resolve(known.find(({ number, hash }) => at === number || at === hash)),
        readHead: () => Promise.resolve(header(9, 'head')),
        readGenesisHash: () => Promise.resolve('genesis'),
        doubt: (hash) => void calls.push(`doubt ${hash}`),
      },
      local: {
        window: () => window,
        tip: () => window[0],
        rewind(_, removed) {
          calls.push(`rewind ${removed}`);
          window = window.slice(removed);
          return Promise.resolve();
        },
        startAt({ hash }, _, gap) {
          calls.push(`start at ${hash}, hole from ${gap?.holeFrom}`);
          return Promise.resolve();
        },
      },
      committing: {
        readHeader: (number) => Promise.resolve(known.find((each) => each.number === number)),
        commit({ hash }) {
          calls.push(`commit ${hash}`);
          return Promise.resolve();
        },
        passOver: () => Promise.resolve(false),
        clear: () => calls.push('clear'),
      },
      onReorg: (depth) => calls.push(`reorg ${depth}`),
      log: createLog(() => {}),
    },
  );
  return { following, calls };
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
  expect(halting.calls).toEqual([]);
  const replaced = open(deep, { resetWhenReplaced: true });
  await replaced.following.follow(deep[3]!);
  expect(replaced.calls).toEqual(['start at head9, hole from 1']);
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
