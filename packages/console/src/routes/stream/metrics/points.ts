/** Computes totals of the points of a chart, and exports the points as CSV. */
import type { Activity, ActivityPoint } from '@sluice/kit/sluice';
import { formatCount, formatShare } from '../../../ui/text/format.ts';
import { toCsv } from '@sluice/kit/contract';

/** The points of a period and, if still stored, the points of the preceding period. */
export interface ComparedActivity extends Activity {
  earlier: Activity['result'] | null;
}

const sum = (points: readonly ActivityPoint[], of: (point: ActivityPoint) => number): number =>
  points.reduce((total, point) => total + of(point), 0);

export const succeededAttempts = ({ delivered, redelivered }: ActivityPoint): number =>
  delivered + redelivered;

export const wasTried = (points: readonly ActivityPoint[]): boolean =>
  points.some((point) => succeededAttempts(point) + point.failedAttempts > 0);

/** Returns the totals of a period as text. */
export function toTotals(points: readonly ActivityPoint[]) {
  const failedAttempts = sum(points, (point) => point.failedAttempts);
  return {
    delivered: formatCount(sum(points, (point) => point.delivered)),
    success: formatShare(sum(points, succeededAttempts), failedAttempts),
    failedAttempts: formatCount(failedAttempts),
    retries: formatCount(sum(points, (point) => point.retries)),
  };
}

/** Returns the points as CSV: one line per step, with times in UTC. */
export const pointsToCsv = (points: readonly ActivityPoint[]): string =>
  toCsv([
    [
      ...['from', 'delivered', 'redelivered', 'failed', 'failed_attempts', 'no_response'],
      ...['3xx', '4xx', '5xx', 'retries', 'p50_ms', 'p95_ms'],
    ],
    ...points.map((point) => [
      new Date(point.at).toISOString(),
      ...[point.delivered, point.redelivered, point.failed, point.failedAttempts],
      ...[point.failures.none, point.failures['3xx']],
      ...[point.failures['4xx'], point.failures['5xx']],
      ...[point.retries, point.p50Ms, point.p95Ms],
    ]),
  ]);
