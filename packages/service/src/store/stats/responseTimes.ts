/** Converts counts of attempts to rows by result and duration. */
import { ATTEMPT_RESULTS, type ResponseTimeRow } from '@sluice/kit/contract';
import { durationsOf, readBucket } from './latency.ts';

/** The count of a metric in a step, which is counted from the first one, 0. */
export interface StepCount {
  step: number;
  metric: string;
  n: number;
}

/**
 * Returns the successes by duration, then the failures by result. Leaves out rows without attempts.
 */
export function toResponseTimeRows(
  counts: readonly StepCount[],
  points: number,
): ResponseTimeRow[] {
  const byBucket = new Map<number, number[]>();
  const byResult = new Map(
    ATTEMPT_RESULTS.map((result): [string, number[]] => [result, empty(points)]),
  );
  const add = (result: string, step: number, n: number): void => {
    const attempts = byResult.get(result);
    if (attempts !== undefined) attempts[step] = (attempts[step] ?? 0) + n;
  };
  for (const { step, metric, n } of counts) {
    const bucket = readBucket(metric);
    if (bucket !== undefined) {
      const attempts = byBucket.get(bucket) ?? empty(points);
      attempts[step] = (attempts[step] ?? 0) + n;
      byBucket.set(bucket, attempts);
    } else if (metric === 'failed_attempts') {
      add('none', step, n);
    } else {
      // Failures without a response are the rest, because successes of queues have no status either.
      const result = metric === 'timed_out' ? 'timeout' : `${metric['answered_'.length]}xx`;
      if (!byResult.has(result)) continue;
      add(result, step, n);
      add('none', step, -n);
    }
  }
  const successes = [...byBucket]
    .toSorted(([a], [b]) => a - b)
    .map(([bucket, attempts]): ResponseTimeRow => ({
      result: 'succeeded',
      ...durationsOf(bucket),
      attempts,
    }));
  const failures = ATTEMPT_RESULTS.map((result): ResponseTimeRow => ({
    result,
    fromMs: 0,
    toMs: null,
    attempts: byResult.get(result)!,
  }));
  return [...successes, ...failures].filter(({ attempts }) => attempts.some((n) => n > 0));
}

const empty = (points: number): number[] => Array.from({ length: points }, () => 0);
