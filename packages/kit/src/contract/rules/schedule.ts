/** The schedule of retries, for the service and the test sender. */
import { parseRetryAfter } from './retryAfter.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/**
 * Waits after the first failure, the second, and so on. The delivery fails if the attempt after the
 * last wait fails.
 */
export const CONTRACT_SCHEDULE_MS: readonly number[] = [
  MINUTE,
  10 * MINUTE,
  HOUR,
  2 * HOUR,
  6 * HOUR,
  12 * HOUR,
  24 * HOUR,
];

/**
 * Wait before the fast retry of a failed first attempt. This retry is not part of the schedule,
 * and the hosted service does not have it.
 */
export const FAST_RETRY_MS = 5_000;

/** Returns whether a failure may be brief: no response, or a 5xx. */
export const isBrief = (status: number | null): boolean => status === null || status >= 500;

/** Maximum wait that a receiver can request: the longest wait of the schedule. */
const MAX_RETRY_AFTER_MS = 24 * HOUR;

/**
 * Returns the wait that the `Retry-After` header of a 429 or 503 requests, in milliseconds, at most
 * 24 hours. Returns undefined for any other status, or if no wait is requested.
 */
export function readRetryAfterMs(
  status: number | null,
  header: string | null | undefined,
  nowMs: number,
): number | undefined {
  if (status !== 429 && status !== 503) return undefined;
  const wait = parseRetryAfter(header, nowMs) ?? 0;
  return wait > 0 ? Math.min(wait, MAX_RETRY_AFTER_MS) : undefined;
}
