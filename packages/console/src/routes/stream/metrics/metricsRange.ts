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
  60: 30 * DAY_MS,
};
const STEPS: readonly ActivityStep[] = [1, 5, 60];
/** Maximum number of points. More points are hard to distinguish. */
const MAX_POINTS = 288;
const MIN_POINTS = 4;

/**
 * A period: a span that ends now, or a range whose start or end may be missing; and how much earlier
 * the compared period is.
 */
export type MetricsPeriod = {
  [Name in 'span' | 'from' | 'until' | 'ago']?: StreamSearch[Name] | undefined;
};

export interface MetricsRange extends Steps {
  /** Time within the last step, in Unix milliseconds; undefined if the period ends now. */
  until?: number;
  /**
   * Time within the last step of the compared period, in Unix milliseconds; null if metrics of this
   * period are no longer stored.
   */
  comparedUntil: number | null;
}

/**
 * Returns the steps of the charts. Each span has a fixed step length. A range uses the shortest
 * steps that are still stored and not too many for a chart; if there are none, it uses steps of one
 * hour. So does a period whose compared period is stored only in steps of one hour.
 */
export function toMetricsRange(period: MetricsPeriod, now: number): MetricsRange {
  const { span = 'day', from, until } = period;
  const end = Math.min(until ?? now, now);
  const isSpan = from === undefined && until === undefined;
  const own: Steps = isSpan
    ? METRICS_SPANS.find(({ value }) => value === span)!
    : stepsOf(Math.min(from ?? end - DAY_MS, end), end, now);
  const hours: Steps = {
    step: 60,
    points: Math.max(MIN_POINTS, Math.ceil((own.step * own.points) / 60)),
  };
  const ofOwn = comparedEnd(own, end, period, now);
  const ofHours = ofOwn ?? comparedEnd(hours, end, period, now);
  const { step, points } = ofOwn === null && ofHours !== null ? hours : own;
  return { step, points, ...(until !== undefined && { until }), comparedUntil: ofHours };
}

interface Steps {
  /** Minutes per point. */
  step: ActivityStep;
  points: number;
}

/** Returns the start of the last compared step; null if the steps are no longer stored. */
function comparedEnd(
  { step, points }: Steps,
  end: number,
  { ago }: MetricsPeriod,
  now: number,
): number | null {
  const stepMs = step * MINUTE_MS;
  // Steps begin at multiples of their length, so periods are compared in complete steps.
  const steps = ago === undefined ? points : Math.max(1, Math.round(ago / step));
  const last = (Math.floor(end / stepMs) - steps) * stepMs;
  return last - (points - 1) * stepMs >= now - KEPT_MS[step] ? last : null;
}

/** Returns the length in minutes and the number of the steps of a chosen range. */
function stepsOf(start: number, end: number, now: number): Steps {
  const oldestOf = (step: ActivityStep): number => now - KEPT_MS[step];
  const pointsOf = (step: ActivityStep): number =>
    Math.floor(end / step / MINUTE_MS) - Math.floor(start / step / MINUTE_MS) + 1;
  const step =
    STEPS.find((each) => start >= oldestOf(each) && pointsOf(each) <= MAX_POINTS) ?? STEPS.at(-1)!;
  const most = KEPT_MS[step] / step / MINUTE_MS;
  return { step, points: Math.max(MIN_POINTS, Math.min(pointsOf(step), most)) };
}
