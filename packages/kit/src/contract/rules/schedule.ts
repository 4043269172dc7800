/** When a delivery that failed is sent again: what the service and the fake sender share. */
import { parseRetryAfter } from './retryAfter.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Waits after failure 1, 2, …; then the delivery has failed. */
export const CONTRACT_SCHEDULE_MS: readonly number[] = [
  MINUTE,
  10 * MINUTE,
  HOUR,
  2 * HOUR,
  6 * HOUR,
  12 * HOUR,
  24 * HOUR,
];

/** Sluice's wait before the quick retry of a first attempt, which the schedule does not count. */
export const QUICK_RETRY_MS = 5_000;

/** Whether a failure may be over in seconds: no answer, or a 5xx. */
export const isBrief = (status: number | null): boolean => status === null || status >= 500;

/** A receiver may ask for patience, but not for more than the schedule's own longest wait. */
const LONGEST_RETRY_AFTER_MS = 24 * HOUR;

/**
 * Milliseconds that the `Retry-After` of a 429 or 503 asks for, at most
 * 24 hours; undefined for any other answer, and for a header that asks for nothing.
 */
export function readRetryAfterMs(
  status: number | null,
  header: string | null | undefined,
  nowMs: number,
): number | undefined {
  if (status !== 429 && status !== 503) return undefined;
  const wait = parseRetryAfter(header, nowMs) ?? 0;
  return wait > 0 ? Math.min(wait, LONGEST_RETRY_AFTER_MS) : undefined;
}
