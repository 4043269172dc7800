import { expect, test } from 'vitest';
import { firstBlocks, olderBlocks, withOlderBlocks } from './dryRunBlocks.ts';

/** Returns blocks in descending order, starting with `newest`. */
const chainOf = (newest: number, length: number) =>
  Array.from({ length }, (_, n) => ({ number: newest - n, timestamp: (newest - n) * 12_000 }));

const numbers = (blocks: readonly { number: number }[]) => blocks.map(({ number }) => number);

test('a run starts with the newest 24 blocks and extends to 300, with known timestamps', () => {
  const known = chainOf(1_000, 60);
  const first = firstBlocks(known);
  expect(numbers(first)).toEqual(numbers(known.slice(0, 24)));
  expect(olderBlocks(first)).toBe(276);
  const all = withOlderBlocks(first, known);
  expect(numbers(all)).toEqual(numbers(chainOf(1_000, 300)));
  expect(all.map(({ timestamp }) => timestamp).slice(58, 62)).toEqual([
    ...[942 * 12_000, 941 * 12_000, null, null],
  ]);
  expect(all.every(({ records }) => records === null)).toBe(true);
  expect(olderBlocks(all)).toBe(0);
  expect(withOlderBlocks(all, known)).toEqual(all);
});

test('earlier blocks fill up a chain with few known blocks', () => {
  const sparse = [1_000, 990].map((number) => ({ number, timestamp: number * 200 }));
  const first = firstBlocks(sparse);
  expect(numbers(first)).toEqual(numbers(chainOf(1_000, 24)));
  expect(first.flatMap(({ timestamp }) => timestamp ?? [])).toEqual([200_000, 198_000]);
  expect(numbers(firstBlocks(chainOf(3, 1)))).toEqual([3, 2, 1, 0]);
});

test('there are no blocks before block 0, or without a known block', () => {
  const first = firstBlocks(chainOf(30, 31));
  expect(olderBlocks(first)).toBe(7);
  expect(withOlderBlocks(first, []).at(-1)?.number).toBe(0);
  expect(olderBlocks(firstBlocks(chainOf(5, 6)))).toBe(0);
  expect(firstBlocks([])).toEqual([]);
  expect(withOlderBlocks([], [])).toEqual([]);
});
