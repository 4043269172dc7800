/**
 * Keeps deliveries from recent live events. Otherwise, a list that was requested before an event
 * and received after it would restore the older state.
 */
import type { DeliverySummary } from '@sluice/kit/sluice';

/** Minimum time for which changes are kept. It is longer than any response takes. */
const KEPT_MS = 60_000;

let changes: { at: number; delivery: DeliverySummary }[] = [];
let prunedAt = 0;

export function recordChange(delivery: DeliverySummary, now: number): void {
  if (now - prunedAt > KEPT_MS) {
    changes = changes.filter(({ at }) => now - at < KEPT_MS);
    prunedAt = now;
  }
  changes.push({ at: now, delivery });
}

/** Returns the changes that arrived at or after `timeMs`, oldest first. */
export function changesSince(timeMs: number): DeliverySummary[] {
  const from = changes.findIndex(({ at }) => at >= timeMs);
  return from === -1 ? [] : changes.slice(from).map(({ delivery }) => delivery);
}
