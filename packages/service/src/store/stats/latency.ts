/**
 * Counts attempts in buckets by duration, so that the counts of several minutes and streams can be
 * added up. The buckets are the ranges of `DURATION_BOUNDS_MS`.
 */
import { DURATION_BOUNDS_MS } from '@sluice/kit/contract';
import type { LatencyMetric } from '../tables/stats.ts';

const MAX_MS = 30_000;

export function latencyMetricOf(durationMs: number): LatencyMetric {
  const bucket = DURATION_BOUNDS_MS.findIndex((bound) => durationMs <= bound);
  return `latency_${bucket < 0 ? DURATION_BOUNDS_MS.length : bucket}`;
}

/** Returns the durations that a bucket counts, in whole milliseconds; null without an upper bound. */
export const durationsOf = (bucket: number): { fromMs: number; toMs: number | null } => ({
  fromMs: bucket === 0 ? 0 : DURATION_BOUNDS_MS[bucket - 1]! + 1,
  toMs: DURATION_BOUNDS_MS[bucket] ?? null,
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
  for (let bucket = 0; bucket <= DURATION_BOUNDS_MS.length; bucket++) {
    const n = counts.get(bucket) ?? 0;
    if (n > 0 && left <= n) {
      const from = DURATION_BOUNDS_MS[bucket - 1] ?? 0;
      const to = DURATION_BOUNDS_MS[bucket] ?? MAX_MS;
      return Math.round(from + (to - from) * (left / n));
    }
    left -= n;
  }
  return MAX_MS;
}
