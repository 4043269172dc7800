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
