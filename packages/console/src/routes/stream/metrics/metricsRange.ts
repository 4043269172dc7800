/** Chooses the length and the number of the steps that the charts show for a period. */
import type { ActivityStep } from '@sluice/kit/sluice';
import { METRICS_SPANS, type StreamSearch } from '../../../data/search.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Retention of the metrics by step, as documented in `docs/contract.md`. */
const KEPT_MS: Readonly<Record<ActivityStep, number>> = {
  1: 2 * DAY_MS,
  5: 2 * DAY_MS,
  60: 15 * DAY_MS,
};
const STEPS: readonly ActivityStep[] = [1, 5, 60];
/** Maximum number of points. More points are hard to distinguish. */
const MAX_POINTS = 288;
const MIN_POINTS = 4;

/** A period: a span that ends now, or a range whose start or end may be missing. */
export type MetricsPeriod = {
  [Name in 'span' | 'from' | 'until']?: StreamSearch[Name] | undefined;
};

export interface MetricsRange {
  /** Minutes per point. */
  step: ActivityStep;
  points: number;
  /** Time within the last step, in Unix milliseconds; undefined if the period ends now. */
  until?: number;
  /** Whether the metrics of the preceding period of the same length are still stored. */
  hasEarlier: boolean;
}

/**
 * Returns the steps of the charts. Each span has a fixed step length. A range uses the shortest
 * steps that are still stored and not too many for a chart; if there are none, it uses steps of one
 * hour.
 */
export function toMetricsRange(
  { span = 'day', from, until }: MetricsPeriod,
  now: number,
): MetricsRange {
  if (from === undefined && until === undefined) {
    const { step, points } = METRICS_SPANS.find(({ value }) => value === span)!;
    return { step, points, hasEarlier: true };
  }
  const end = Math.min(until ?? now, now);
  const start = Math.min(from ?? end - DAY_MS, end);
  const oldestOf = (step: ActivityStep): number => now - KEPT_MS[step];
  const pointsOf = (step: ActivityStep): number =>
    Math.floor(end / step / MINUTE_MS) - Math.floor(start / step / MINUTE_MS) + 1;
  const step =
    STEPS.find((each) => start >= oldestOf(each) && pointsOf(each) <= MAX_POINTS) ?? STEPS.at(-1)!;
  const most = KEPT_MS[step] / step / MINUTE_MS;
  const points = Math.max(MIN_POINTS, Math.min(pointsOf(step), most));
  const lengthMs = points * step * MINUTE_MS;
  return {
    step,
    points,
    ...(until !== undefined && { until }),
    hasEarlier: end - 2 * lengthMs >= oldestOf(step),
  };
}
