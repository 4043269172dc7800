/**
 * Counts attempts in buckets by duration, so that the counts of several minutes and streams can be
 * added up.
 */
import type { LatencyMetric } from '../tables/stats.ts';

/**
 * Upper bounds of the buckets in milliseconds, each 1.3 to 2 times the previous one. One more
 * bucket counts longer durations.
 */
const BOUNDS_MS = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000,
  5_000, 7_000, 10_000, 15_000,
];
const MAX_MS = 30_000;

export function latencyMetricOf(durationMs: number): LatencyMetric {
  const bucket = BOUNDS_MS.findIndex((bound) => durationMs <= bound);
  return `latency_${bucket < 0 ? BOUNDS_MS.length : bucket}`;
}

/** Returns the durations that a bucket counts, in whole milliseconds; null without an upper bound. */
export const durationsOf = (bucket: number): { fromMs: number; toMs: number | null } => ({
  fromMs: bucket === 0 ? 0 : BOUNDS_MS[bucket - 1]! + 1,
  toMs: BOUNDS_MS[bucket] ?? null,
});

/** Returns the bucket of a latency metric; undefined for any other metric. */
export function readBucket(metric: string): number | undefined {
  return metric.startsWith('latency_') ? Number(metric.slice('latency_'.length)) : undefined;
}

/**
 * Estimates the duration that a share of the attempts (0 to 1) does not exceed, by interpolation
 * within a bucket. Returns null without attempts.
 * @param counts number of attempts by bucket
 */
export function quantileMs(counts: ReadonlyMap<number, number>, share: number): number | null {
  const total = [...counts.values()].reduce((sum, n) => sum + n, 0);
  if (total === 0) return null;
  let left = share * total;
  for (let bucket = 0; bucket <= BOUNDS_MS.length; bucket++) {
    const n = counts.get(bucket) ?? 0;
    if (n > 0 && left <= n) {
      const from = BOUNDS_MS[bucket - 1] ?? 0;
      const to = BOUNDS_MS[bucket] ?? MAX_MS;
      return Math.round(from + (to - from) * (left / n));
    }
    left -= n;
  }
  return MAX_MS;
}
