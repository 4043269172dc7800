/** Deliveries of an address over time. */
import type { DeliveryState, DeliverySummary } from '@sluice/kit/sluice';
import { timeOfId } from '@sluice/kit/contract';

/** A bar of the activity, from `from` up to but excluding `from` of the next one. */
export interface ActivityBar {
  /** Unix milliseconds. */
  from: number;
  count: number;
  failed: number;
}

export interface Activity {
  bars: readonly ActivityBar[];
  /** Length of each bar in milliseconds. */
  stepMs: number;
}

const BARS = 60;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const STEPS_MS = [
  ...[5, 10, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 30, 60, 120, 360, 720, 1_440].map((minutes) => minutes * MINUTE_MS),
];

const FAILED: readonly DeliveryState[] = ['failed', 'quarantined', 'retrying'];

/**
 * Counts deliveries in at most 60 bars, which end now and begin at the oldest delivery.
 *
 * @param deliveries newest first
 */
export function toActivity(deliveries: readonly DeliverySummary[], now: number): Activity {
  const oldest = deliveries.at(-1);
  const since = oldest === undefined ? now : timeOfId(oldest.id);
  const stepMs = STEPS_MS.find((step) => step * (BARS - 1) >= now - since) ?? STEPS_MS.at(-1)!;
  const end = Math.floor(now / stepMs) + 1;
  const first = Math.max(end - BARS, 0);
  const bars = Array.from({ length: end - first }, (_, index) => ({
    from: (first + index) * stepMs,
    count: 0,
    failed: 0,
  }));
  for (const { id, state } of deliveries) {
    const bar = bars[Math.floor(timeOfId(id) / stepMs) - first];
    if (bar === undefined) continue;
    bar.count++;
    if (FAILED.includes(state)) bar.failed++;
  }
  return { bars, stepMs };
}
