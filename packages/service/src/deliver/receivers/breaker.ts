/**
 * Circuit breaker for the receiver of one stream, in memory. Times are milliseconds on a monotonic
 * clock.
 * - closed: all due deliveries are sent.
 * - open, after 10 consecutive failures or if more than half of at least 20 attempts within a
 * minute failed: a probe is sent after 30 seconds, and each failed probe doubles the wait, up to 10
 * minutes.
 * - held, after a 429: nothing is sent for the requested time, at most 10 minutes.
 * The success rate starts at 100, falls by 1 with each failure, and rises by 1 with each success,
 * up to 100. Failures of attempts that were in flight when the breaker opened are not counted, so
 * that one outage counts once.
 */

import type { BackOffReason } from '@sluice/kit/contract';

/**
 * State of a breaker that is not closed. `half-open` means that a probe may be sent or is in
 * flight.
 */
export type BreakerState = 'open' | 'half-open' | 'held';

export interface BackOffPeriod {
  reason: BackOffReason;
  since: number;
  until: number;
}

export interface Breaker {
  /**
   * Returns the number of attempts that may start, given the number in flight: 0, 1, or unlimited.
   */
  room(underWay: number, nowMs: number): number;
  /** Records an ended attempt. Returns whether its failure left the success rate below 70. */
  note(result: AttemptResult, nowMs: number): { exhausted: boolean };
  /** Returns the state of the breaker; undefined while closed. */
  state(nowMs: number): BreakerState | undefined;
  /**
   * Returns the current pause, until the next probe or for the time that a 429 requested; undefined
   * while closed.
   */
  backOff(nowMs: number): BackOffPeriod | undefined;
  /** Ends every wait by this time, because the receiver is assumed to work again. */
  hasten(untilMs: number): void;
  /** Returns whether the breaker has no state worth keeping. */
  isIdle(nowMs: number): boolean;
}

export interface AttemptResult {
  succeeded: boolean;
  /** Milliseconds that a 429 requested; the attempt then does not count as a failure. */
  throttledMs?: number | undefined;
  startedAt: number;
}

const CONSECUTIVE_FAILURES = 10;
const WINDOW_MS = 60_000;
const WINDOW_MIN_ATTEMPTS = 20;
const FIRST_WAIT_MS = 30_000;
const MAX_WAIT_MS = 10 * 60_000;
const FULL_RATE = 100;
/** Minimum success rate. A stream with a lower rate goes into `error`. */
const MIN_RATE = 70;

export function createBreaker(): Breaker {
  let rate = FULL_RATE;
  let consecutiveFailures = 0;
  let windowStart = 0;
  let windowAttempts = 0;
  let windowFailures = 0;
  let open: { since: number; until: number; waitMs: number } | undefined;
  let held = { since: 0, until: 0 };

  const countInWindow = (failed: boolean, nowMs: number): void => {
    if (nowMs - windowStart >= WINDOW_MS) {
      windowStart = nowMs;
      windowAttempts = 0;
      windowFailures = 0;
    }
    windowAttempts++;
    if (failed) windowFailures++;
  };

  const isFailing = (): boolean =>
    consecutiveFailures >= CONSECUTIVE_FAILURES ||
    (windowAttempts >= WINDOW_MIN_ATTEMPTS && windowFailures * 2 > windowAttempts);

  return {
    room(underWay, nowMs) {
      if (nowMs < held.until) return 0;
      if (open === undefined) return Number.POSITIVE_INFINITY;
      return nowMs >= open.until && underWay === 0 ? 1 : 0;
    },

    note({ succeeded, throttledMs, startedAt }, nowMs) {
      if (throttledMs !== undefined) {
        const until = nowMs + Math.min(throttledMs, MAX_WAIT_MS);
        held = {
          since: nowMs < held.until ? held.since : nowMs,
          until: Math.max(held.until, until),
        };
        return { exhausted: false };
      }
      if (succeeded) {
        rate = Math.min(FULL_RATE, rate + 1);
        consecutiveFailures = 0;
        if (open === undefined) countInWindow(false, nowMs);
        else {
          open = undefined;
          windowAttempts = 0;
          windowFailures = 0;
        }
        return { exhausted: false };
      }
      if (open !== undefined) {
        if (startedAt < open.since) return { exhausted: false };
        rate--;
        const waitMs = Math.min(open.waitMs * 2, MAX_WAIT_MS);
        open = { since: open.since, until: nowMs + waitMs, waitMs };
        return { exhausted: rate < MIN_RATE };
      }
      rate--;
      consecutiveFailures++;
      countInWindow(true, nowMs);
      if (isFailing()) open = { since: nowMs, until: nowMs + FIRST_WAIT_MS, waitMs: FIRST_WAIT_MS };
      return { exhausted: rate < MIN_RATE };
    },

    state(nowMs) {
      if (nowMs < held.until) return 'held';
      if (open === undefined) return undefined;
      return nowMs < open.until ? 'open' : 'half-open';
    },

    backOff(nowMs) {
      if (nowMs < held.until && held.until >= (open?.until ?? 0)) {
        return { reason: 'throttled', ...held };
      }
      return open && { reason: 'failures', since: open.since, until: open.until };
    },

    hasten(untilMs) {
      held.until = Math.min(held.until, untilMs);
      if (open !== undefined) open.until = Math.min(open.until, untilMs);
    },

    isIdle: (nowMs) =>
      rate === FULL_RATE &&
      open === undefined &&
      consecutiveFailures === 0 &&
      held.until <= nowMs &&
      (windowFailures === 0 || nowMs - windowStart >= WINDOW_MS),
  };
}
