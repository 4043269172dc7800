import fc from 'fast-check';
import { expect, test } from 'vitest';
import { latencyMetricOf, quantileMs, readBucket } from './latency.ts';

const count = (durations: readonly number[]): Map<number, number> => {
  const counts = new Map<number, number>();
  for (const duration of durations) {
    const bucket = readBucket(latencyMetricOf(duration))!;
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
  }
  return counts;
};

test('without counts, the quantile is null', () => {
  expect(quantileMs(new Map(), 0.5)).toBeNull();
  expect(readBucket('delivered')).toBeUndefined();
});

test('property: a quantile is in the same bucket as the exact one', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 50 }),
      fc.constantFrom(0.5, 0.95, 1),
      (durations, share) => {
        const sorted = durations.toSorted((a, b) => a - b);
        const exact = sorted[Math.ceil(share * sorted.length) - 1]!;
        const read = quantileMs(count(durations), share)!;
        // The upper bound of a bucket is at most twice its lower bound, except in the first bucket
        // (up to 1 ms). The last bucket ends at 30 s.
        expect(read).toBeGreaterThanOrEqual(Math.floor(exact / 2) - 1);
        expect(read).toBeLessThanOrEqual(exact > 15_000 ? 30_000 : exact * 2 + 1);
      },
    ),
  );
});
