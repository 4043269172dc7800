/** Shares the capacity of a stream between first attempts and retries. */
import type { DueDelivery } from './lanes.ts';

/**
 * If both kinds are due, every fourth claimed delivery is a retry. Retries use at most three
 * quarters of a capacity, so neither a backlog of retries nor a steady flow of first attempts
 * delays the other.
 */
const RETRY_EVERY = 4;

/** Returns how many of `capacity` deliveries may be retries: three quarters, but at least one. */
export const toRetryCapacity = (capacity: number): number =>
  Math.max(1, Math.floor(capacity - capacity / RETRY_EVERY));

/**
 * Mixes the due deliveries of one stream: a retry after every three first attempts, until only one
 * kind is left.
 *
 * @param turn index in this sequence; random by default, so that a stream with one delivery per
 * claim gets both kinds
 */
export function mixRetries(
  due: readonly DueDelivery[],
  { room, retryRoom }: { room: number; retryRoom: number },
  turn = Math.floor(Math.random() * RETRY_EVERY),
): DueDelivery[] {
  const first = due.filter(({ attempts }) => attempts === 0);
  const retries = due.filter(({ attempts }) => attempts > 0).slice(0, retryRoom);
  const mixed: DueDelivery[] = [];
  for (let f = 0, r = 0; mixed.length < room && mixed.length < first.length + retries.length;) {
    const isRetryTurn = (turn + mixed.length) % RETRY_EVERY === RETRY_EVERY - 1;
    const takesRetry = r < retries.length && (isRetryTurn || f === first.length);
    mixed.push(takesRetry ? retries[r++]! : first[f++]!);
  }
  return mixed;
}
