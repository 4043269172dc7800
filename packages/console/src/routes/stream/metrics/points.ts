/** Computes totals of the points of a chart, and exports the points as CSV. */
import type { Activity, ActivityPoint } from '@sluice/kit/sluice';
import { formatCount, percentOf } from '../../../ui/text/format.ts';
import { toCsv } from '@sluice/kit/contract';

/** The points of a period and, if still stored, as many points of the compared period. */
export interface ComparedActivity extends Activity {
  earlier: Activity['result'] | null;
}

const sum = (points: readonly ActivityPoint[], of: (point: ActivityPoint) => number): number =>
  points.reduce((total, point) => total + of(point), 0);

export const succeededAttempts = ({ delivered, redelivered }: ActivityPoint): number =>
  delivered + redelivered;

export const wasTried = (points: readonly ActivityPoint[]): boolean =>
  points.some((point) => succeededAttempts(point) + point.failedAttempts > 0);

/** Returns the totals of a period. */
export function toTotals(points: readonly ActivityPoint[]) {
  const failedAttempts = sum(points, (point) => point.failedAttempts);
  return {
    delivered: sum(points, (point) => point.delivered),
    /** Percentage of attempts that succeeded; null without attempts. */
    success: percentOf(sum(points, succeededAttempts), failedAttempts),
    failedAttempts,
    retries: sum(points, (point) => point.retries),
  };
}

/** A count that grew by more is compared as a multiple. */
const MULTIPLE_FROM = 10;

/**
 * Formats the change of a count, such as `+12 %` or `×15`; empty without a change or a count before.
 */
export function formatGrowth(now: number, before: number): string {
  if (before === 0 || now === before) return '';
  if (now / before >= MULTIPLE_FROM) return `×${formatCount(Math.round(now / before))}`;
  const percent = Math.round((Math.abs(now - before) / before) * 100);
  return `${signOf(now - before)}${Math.max(1, percent)} %`;
}

/** Formats the change of a percentage in points, such as `−1.5 points`; empty without a change. */
export function formatShift(now: number | null, before: number | null): string {
  if (now === null || before === null) return '';
  const points = Number((now - before).toFixed(2));
  return points === 0 ? '' : `${signOf(points)}${Math.abs(points)} points`;
}

const signOf = (change: number): string => (change > 0 ? '+' : '−');

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
