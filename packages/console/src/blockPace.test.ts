import { expect, test } from 'vitest';
import { meanBlockMs, nextBlock } from './blockPace.ts';

const at = (number: number, timestamp: number) => ({ number, timestamp });

test('The pace is that between the first and the last block, by height', () => {
  expect(meanBlockMs([at(12, 36_000), at(11, 20_000), at(10, 12_000)])).toBe(12_000);
  // One between them is not at hand.
  expect(meanBlockMs([at(14, 60_000), at(10, 12_000)])).toBe(12_000);
});

test('One block, none, or several of the same second tell no pace', () => {
  expect(meanBlockMs([])).toBeNull();
  expect(meanBlockMs([at(1, 1000)])).toBeNull();
  expect(meanBlockMs([at(2, 1000), at(1, 1000)])).toBeNull();
});

test('the next block is due one step after the newest', () => {
  const blocks = [at(11, 24_000), at(10, 12_000)];
  expect(nextBlock(blocks, 27_000)).toEqual({ number: 12, inMs: 9_000 });
  expect(nextBlock(blocks, 40_000)).toEqual({ number: 12, inMs: -4_000 });
  expect(nextBlock([], 0)).toBeNull();
});

test('a chain that makes blocks on demand has no time for the next one', () => {
  expect(nextBlock([at(11, 24_000), at(10, 12_000)], 200_000)).toEqual({ number: 12, inMs: null });
  expect(nextBlock([at(11, 24_000)], 24_000)).toEqual({ number: 12, inMs: null });
});
