/** Computes the ticks of a time axis at round times in the chosen zone. */
import { formatClock, formatDay } from '../text/format.ts';
import { inZone } from '../text/timeZone.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const TICKS_MS = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7].map((days) => days * DAY_MS),
];

export interface TimeTick {
  /** Position on the axis as a share of its width, from 0 to 1. */
  place: number;
  /** Time, such as `10:45`, or the date at midnight, such as `11-24`. */
  label: string;
}

/**
 * Returns the ticks of an axis that has the first step at its left edge and the last at its right
 * edge.
 * @param from start of the first step, in Unix milliseconds.
 * @param most maximum number of ticks.
 */
export function timeTicks(axis: {
  from: number;
  stepMs: number;
  count: number;
  most: number;
}): TimeTick[] {
  const { from, stepMs, count, most } = axis;
  if (count < 2) return [];
  const lengthMs = (count - 1) * stepMs;
  const tickMs = TICKS_MS.find((each) => each >= stepMs && lengthMs / each <= most) ?? 7 * DAY_MS;
  return Array.from({ length: count - 1 }, (_, index) => from + index * stepMs).flatMap((at) => {
    // The offset of a zone may change within the axis, and need not be a multiple of a step.
    const local = inZone(at).getTime();
    const tick = at + Math.ceil(local / tickMs) * tickMs - local;
    if (tick >= at + stepMs) return [];
    const clock = formatClock(tick).slice(0, 5);
    const label = clock === '00:00' ? formatDay(tick).slice(5) : clock;
    return [{ place: (tick - from) / lengthMs, label }];
  });
}
