/**
 * How the receiver of one stream is doing, and so how much is sent to it. In memory: a restart
 * begins with good faith, as the contract's success rate does. Its times are of a clock that never
 * jumps, in milliseconds.
 *
 * - closed: everything that is due is sent.
 * - open, after 10 failures on end or when more than half of at least 20 attempts within a minute
 *   failed: nothing is sent for 30 seconds, then one probe; each probe that fails doubles the wait,
 *   up to 10 minutes, and one that succeeds closes it. What is not sent uses up no attempt.
 * - held: a receiver that asks for patience with a 429 gets it, up to 10 minutes. That is no failure.
 *
 * The success rate is the contract's: it starts at 100, falls by 1 with each failure,
 * rises by 1 with each success up to 100. Attempts that were under way when the breaker opened are
 * not rated, so that one outage counts once, however much was in flight.
 */

import type { SparedReason } from '@sluice/kit/contract';

/** Closed has no name: there is nothing to say of it. `half-open`: a probe may go, or is under way. */
export type BreakerState = 'open' | 'half-open' | 'held';

export interface Spell {
  reason: SparedReason;
  since: number;
  until: number;
}

export interface Breaker {
  /** How many more attempts may begin, given how many are under way: 0, 1, or without limit. */
  room(underWay: number, nowMs: number): number;
  /** When an attempt ended. Answers whether the success rate fell below its limit with it. */
  note(result: AttemptResult, nowMs: number): { exhausted: boolean };
  /** Undefined while it is closed. */
  state(nowMs: number): BreakerState | undefined;
  /** From when until when nothing is sent, or was before the probe; undefined while it is closed. */
  spell(nowMs: number): Spell | undefined;
  /** Nothing waits longer than until then: somebody believes that the receiver is back. */
  hasten(untilMs: number): void;
  /** Whether there is nothing to remember: it is as good as new. */
  isIdle(nowMs: number): boolean;
}

export interface AttemptResult {
  succeeded: boolean;
  /** Milliseconds the receiver asked us to wait with a 429; the attempt is then no failure of it. */
  throttledMs?: number | undefined;
  startedAt: number;
}

const CONSECUTIVE_FAILURES = 10;
const WINDOW_MS = 60_000;
const WINDOW_MIN_ATTEMPTS = 20;
const FIRST_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 10 * 60_000;
const FULL_RATE = 100;
/** Below it a stream is in `error`. */
const LOWEST_RATE = 70;

export function createBreaker(): Breaker {
  let rate = FULL_RATE;
  let failuresOnEnd = 0;
  let windowStart = 0;
  let windowAttempts = 0;
  let windowFailures = 0;
  /** Undefined while closed. */
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
    failuresOnEnd >= CONSECUTIVE_FAILURES ||
    (windowAttempts >= WINDOW_MIN_ATTEMPTS && windowFailures * 2 > windowAttempts);

  return {
    room(underWay, nowMs) {
      if (nowMs < held.until) return 0;
      if (open === undefined) return Number.POSITIVE_INFINITY;
      return nowMs >= open.until && underWay === 0 ? 1 : 0;
    },

    note({ succeeded, throttledMs, startedAt }, nowMs) {
      if (throttledMs !== undefined) {
        const until = nowMs + Math.min(throttledMs, LONGEST_WAIT_MS);
        held = {
          since: nowMs < held.until ? held.since : nowMs,
          until: Math.max(held.until, until),
        };
        return { exhausted: false };
      }
      if (succeeded) {
        rate = Math.min(FULL_RATE, rate + 1);
        failuresOnEnd = 0;
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
        const waitMs = Math.min(open.waitMs * 2, LONGEST_WAIT_MS);
        open = { since: open.since, until: nowMs + waitMs, waitMs };
        return { exhausted: rate < LOWEST_RATE };
      }
      rate--;
      failuresOnEnd++;
      countInWindow(true, nowMs);
      if (isFailing()) open = { since: nowMs, until: nowMs + FIRST_WAIT_MS, waitMs: FIRST_WAIT_MS };
      return { exhausted: rate < LOWEST_RATE };
    },

    state(nowMs) {
      if (nowMs < held.until) return 'held';
      if (open === undefined) return undefined;
      return nowMs < open.until ? 'open' : 'half-open';
    },

    spell(nowMs) {
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
      failuresOnEnd === 0 &&
      held.until <= nowMs &&
      (windowFailures === 0 || nowMs - windowStart >= WINDOW_MS),
  };
}
