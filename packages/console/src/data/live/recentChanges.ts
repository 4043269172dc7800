/**
 * Deliveries that live events told of a moment ago. A list that was asked for before such an event
 * and is answered after it would otherwise put the older state back.
 */
import type { DeliverySummary } from '@sluice/kit/sluice';

/** No answer of the service takes longer: the kit gives up before. */
const KEPT_MS = 60_000;

let changes: { at: number; delivery: DeliverySummary }[] = [];
let prunedAt = 0;

export function noteChange(delivery: DeliverySummary, now: number): void {
  if (now - prunedAt > KEPT_MS) {
    changes = changes.filter(({ at }) => now - at < KEPT_MS);
    prunedAt = now;
  }
  changes.push({ at: now, delivery });
}

/** What arrived at or after a time, oldest first. */
export function changesSince(timeMs: number): DeliverySummary[] {
  const from = changes.findIndex(({ at }) => at >= timeMs);
  return from === -1 ? [] : changes.slice(from).map(({ delivery }) => delivery);
}
