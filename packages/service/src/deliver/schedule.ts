/** How long a delivery waits for its next attempt. The schedule itself is part of the contract. */

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
