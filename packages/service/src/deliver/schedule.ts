/** When a delivery that failed is tried again. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Waits after failure 1, 2, …; then the delivery has failed (contract section 6). */
export const CONTRACT_SCHEDULE_MS: readonly number[] = [
  MINUTE,
  10 * MINUTE,
  HOUR,
  2 * HOUR,
  6 * HOUR,
  12 * HOUR,
  24 * HOUR,
];

/** Share of a wait that is added at random, so that deliveries that failed together part again. */
const JITTER = 0.1;

/** A receiver may ask for patience, but not for more than the schedule's own longest wait. */
const LONGEST_RETRY_AFTER_MS = 24 * HOUR;

/**
 * Milliseconds that a `Retry-After` header asks for (RFC 9110, section 10.2.3: seconds, or a date), at
 * most 24 hours; undefined for one that is none, or asks for the past.
 */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return wait > 0 ? Math.min(wait, LONGEST_RETRY_AFTER_MS) : undefined;
}

/**
 * Milliseconds until the next attempt, never less than the schedule says, or undefined when
 * `attempts` used it up.
 *
 * @param attempts made so far, the failed one included: 1 or more
 * @param random from 0 up to 1
 */
export function nextWaitMs(
  schedule: readonly number[],
  attempts: number,
  random = Math.random(),
): number | undefined {
  const wait = schedule[attempts - 1];
  return wait === undefined ? undefined : Math.ceil(wait * (1 + JITTER * random));
}

/**
 * The waits behind the next attempt, should each fail from there on.
 *
 * @param attempts made so far
 * @param fastRetried whether one of them was the quick retry, which the schedule does not count
 */
export const laterWaitsMs = (
  schedule: readonly number[],
  attempts: number,
  fastRetried: boolean,
): number[] => schedule.slice(attempts - (fastRetried ? 1 : 0));
