import { expect, test } from 'vitest';
import type { DryRunBlock } from './dryRunBlocks.ts';
import { dryRunFigures, dryRunSpan } from './dryRunFigures.ts';

/** Returns blocks with these numbers of records, twelve seconds apart, newest first. */
const blocksOf = (...records: (number | null)[]): DryRunBlock[] =>
  records.map((count, index) => ({
    number: 100 - index,
    timestamp: (100 - index) * 12_000,
    records: count,
    bodyBytes: (count ?? 0) * 500,
  }));

test('figures of a day are extrapolated from the blocks', () => {
  // A day is 1,800 times the 48 seconds of the run.
  expect(dryRunFigures(blocksOf(3, 0, 1, 0), 2)).toEqual({
    matched: 2,
    averageBytes: 1000,
    largestBytes: 1500,
    busiestRecords: 3,
    spanMs: 48_000,
    perDay: { records: 4 * 1800, webhooks: 2 * 2 * 1800 },
  });
});

test('blocks that have not run yet do not count as empty', () => {
  const figures = dryRunFigures(blocksOf(1, 1, null, null), 1);
  expect(figures?.spanMs).toBe(24_000);
  expect(figures?.perDay).toEqual({ records: 7200, webhooks: 7200 });
});

test('blocks with equal timestamps have sizes, but no rate', () => {
  const still = blocksOf(2, 1).map((block) => ({ ...block, timestamp: 1000 }));
  expect(dryRunFigures(still, 2)).toMatchObject({ largestBytes: 1000, perDay: null });
});

test('there are no figures without a match', () => {
  expect(dryRunFigures(blocksOf(0, 0, null), 2)).toBeNull();
  expect(dryRunFigures([], 2)).toBeNull();
});

test('blocks without a timestamp use the mean block time of the others', () => {
  const blocks = blocksOf(1, 0, 0, 0).map((block, n) =>
    n < 2 ? block : { ...block, timestamp: null },
  );
  expect(dryRunSpan(blocks)).toBe(48_000);
  expect(dryRunFigures(blocks, 1)?.perDay).toEqual({ records: 1800, webhooks: 1800 });
  expect(dryRunSpan(blocks.slice(1))).toBeNull();
});
