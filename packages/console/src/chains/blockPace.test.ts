import type { ChainBlock } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import {
  headAgeMs,
  isLate,
  isOverdue,
  mayBeOverdue,
  meanBlockMs,
  estimateNextBlock,
} from './blockPace.ts';
import type { WatchedChain } from './timeline.ts';

const at = (number: number, timestamp: number) => ({ number, timestamp });

test('the pace is the average between the first and the last block', () => {
  expect(meanBlockMs([at(12, 36_000), at(11, 20_000), at(10, 12_000)])).toBe(12_000);
  // The three blocks in between are missing.
  expect(meanBlockMs([at(14, 60_000), at(10, 12_000)])).toBe(12_000);
});

test('one block, none, or several in the same second have no pace', () => {
  expect(meanBlockMs([])).toBeNull();
  expect(meanBlockMs([at(1, 1000)])).toBeNull();
  expect(meanBlockMs([at(2, 1000), at(1, 1000)])).toBeNull();
});

test('the next block is due one interval after the newest', () => {
  const blocks = [at(11, 24_000), at(10, 12_000)];
  expect(estimateNextBlock(blocks, 27_000)).toEqual({ number: 12, inMs: 9_000 });
  expect(estimateNextBlock(blocks, 40_000)).toEqual({ number: 12, inMs: -4_000 });
  // Five blocks share a timestamp, so the newest one may look a second late.
  const fast = Array.from({ length: 11 }, (_, n) => at(20 - n, 10_000 - 1_000 * Math.ceil(n / 5)));
  expect(estimateNextBlock(fast, 11_200)).toEqual({ number: 21, inMs: -1_000 });
  expect(estimateNextBlock([], 0)).toBeNull();
});

test('a chain with blocks on demand has no expected time', () => {
  expect(estimateNextBlock([at(11, 24_000), at(10, 12_000)], 200_000)).toEqual({
    number: 12,
    inMs: null,
  });
  expect(estimateNextBlock([at(11, 24_000)], 24_000)).toEqual({ number: 12, inMs: null });
});

/** Creates a chain with these gaps between its blocks, oldest first. */
function paced(gapsMs: readonly number[], changes: Partial<WatchedChain> = {}): WatchedChain {
  let timestamp = 1_000_000;
  const blocks: ChainBlock[] = [{ number: 0, hash: '0x0', timestamp, matches: 0 }];
  for (const [index, gapMs] of gapsMs.entries()) {
    timestamp += gapMs;
    blocks.unshift({ number: index + 1, hash: `0x${index + 1}`, timestamp, matches: 0 });
  }
  return {
    id: '0x1',
    name: 'Ethereum',
    code: 'ETH',
    state: 'live',
    message: '',
    head: gapsMs.length,
    checkpoint: gapsMs.length,
    confirmations: 2,
    confirmedUpTo: null,
    safe: null,
    finalized: null,
    proof: null,
    trust: null,
    agreement: null,
    providers: [],
    progress: null,
    unverified: null,
    blocks,
    removed: [],
    headAgeMs: 0,
    reportedAt: 50_000,
    ...changes,
  };
}

const every = (gapMs: number, count = 20): number[] => Array.from({ length: count }, () => gapMs);

test('a block is overdue after three times the longest gap, and at least eight seconds', () => {
  const fast = paced(every(2_000));
  expect(mayBeOverdue(fast, 58_000)).toBe(false);
  expect(mayBeOverdue(fast, 58_001)).toBe(true);
  // The gap of a missed slot counts as the longest gap.
  const slow = paced([...every(12_000), 24_000]);
  expect(mayBeOverdue(slow, 50_000 + 72_000)).toBe(false);
  expect(mayBeOverdue(slow, 50_000 + 72_001)).toBe(true);
  expect([isLate(slow, 50_000 + 24_000), isLate(slow, 50_000 + 26_000)]).toEqual([false, true]);
  // A chain with several blocks in one second can be overdue.
  expect(mayBeOverdue(paced([0, 0, 0, 1_000, 0, 0, 0, 1_000]), 58_001)).toBe(true);
});

test('without a pace nothing is overdue', () => {
  const long = 50_000 + 3_600_000;
  expect(mayBeOverdue(paced(every(2_000, 3)), long)).toBe(false);
  expect(
    mayBeOverdue(paced([1_000, 1_000, 1_000, 1_000, 400_000, ...every(1_000, 40)]), long),
  ).toBe(false);
  expect(mayBeOverdue(paced(every(2_000), { id: '0x7a69' }), long)).toBe(false);
  expect(mayBeOverdue(paced(every(2_000), { headAgeMs: null }), long)).toBe(false);
});

test('a block is overdue once the service has reported it; an unreachable service reports nothing', () => {
  const chain = paced(every(2_000), { headAgeMs: 7_000 });
  expect(headAgeMs(chain, 53_000)).toBe(10_000);
  expect([mayBeOverdue(chain, 53_000), isOverdue(chain)]).toEqual([true, false]);
  expect(isOverdue({ ...chain, headAgeMs: 9_000 })).toBe(true);
});
