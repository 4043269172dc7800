/** Computes how long a delivery waits for its next attempts. */

/**
 * Maximum random share added to a wait, so that deliveries that failed together are not retried
 * together.
 */
const JITTER = 0.1;

export interface RetryOptions {
  /** Milliseconds to wait between attempts. */
  schedule: readonly number[];
  /**
   * Milliseconds before a single fast retry after a first attempt that failed with a 5xx or without
   * a response; undefined for no fast retry.
   */
  fastRetryMs?: number | undefined;
}

/** Returns the retries of a stream. Its own waits are complete: no fast retry precedes them. */
export const retryOptionsOf = (
  own: readonly number[] | undefined,
  service: RetryOptions,
): RetryOptions => (own === undefined ? service : { schedule: own });

/**
 * Returns the milliseconds until the next attempt, at least the scheduled wait; undefined once the
 * schedule is used up.
 *
 * @param attempts number of attempts so far, including the failed one: 1 or more
 * @param random random number from 0 to 1, exclusive
 */
export function nextWaitMs(
  schedule: readonly number[],
  attempts: number,
  random = Math.random(),
): number | undefined {
  const wait = schedule[attempts - 1];
  return wait === undefined ? undefined : Math.ceil(wait * (1 + JITTER * random));
}

/** Returns the longest time from the first attempt to the last, without the attempts themselves. */
export const longestWaitMs = (schedule: readonly number[]): number =>
  schedule.reduce((sum, wait) => sum + wait * (1 + JITTER), 0);

/**
 * Returns the waits after the next attempt, assuming that every attempt fails.
 *
 * @param attempts number of attempts so far
 * @param fastRetried whether one of them was the fast retry, which is not part of the schedule
 */
export const remainingWaitsMs = (
  schedule: readonly number[],
  attempts: number,
  fastRetried: boolean,
): number[] => schedule.slice(attempts - (fastRetried ? 1 : 0));
