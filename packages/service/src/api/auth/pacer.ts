/** Rate limit of each caller, which allows a burst after a pause. */
export interface Pace {
  /** Average number of turns per second in the long term. */
  perSecond: number;
  /** Maximum number of turns at once after a pause. */
  burst: number;
}

export interface GrantedTurn {
  isGranted: boolean;
  /** Number of further turns that are available now. */
  left: number;
  /** Time until the next turn is available; 0 if it is available now. */
  retryAfterSeconds: number;
  /** Time until a full burst is available again. */
  resetSeconds: number;
}

export interface Pacer {
  readonly burst: number;
  /**
   * Takes a turn, if one is available.
   *
   * @param now time in milliseconds on a monotonic clock
   */
  take(who: string, now?: number): GrantedTurn;
  /** Returns whether a turn is available, without taking it. */
  mayTake(who: string, now?: number): boolean;
}

const MAX_TAKERS = 10_000;

/**
 * Creates a pacer. It stores one number for each of at most `mostTakers` callers: the theoretical
 * arrival time of the generic cell rate algorithm.
 *
 * @param mostTakers maximum number of stored callers; above it, the caller that has been idle for
 * the longest time is dropped.
 */
export function createPacer({ perSecond, burst }: Pace, mostTakers = MAX_TAKERS): Pacer {
  const turnMs = 1000 / perSecond;
  // Subtracts half a turn from a full burst, so that rounding does not matter.
  const mostOwedMs = (burst - 0.5) * turnMs;
  /** Theoretical arrival time of each caller, ordered by their last call to `take`, oldest first. */
  const usedUpAt = new Map<string, number>();

  const owedMs = (who: string, now: number): number =>
    Math.max(0, (usedUpAt.get(who) ?? now) - now);

  return {
    burst,
    mayTake: (who, now = performance.now()) => owedMs(who, now) < mostOwedMs,
    take(who, now = performance.now()) {
      const before = owedMs(who, now);
      const isGranted = before < mostOwedMs;
      const owed = isGranted ? before + turnMs : before;
      usedUpAt.delete(who);
      usedUpAt.set(who, now + owed);
      if (usedUpAt.size > mostTakers) {
        const [silent = ''] = usedUpAt.keys();
        usedUpAt.delete(silent);
      }
      return {
        isGranted,
        left: Math.max(0, Math.ceil((mostOwedMs - owed) / turnMs)),
        retryAfterSeconds:
          owed < mostOwedMs ? 0 : Math.max(1, Math.ceil((owed - mostOwedMs) / 1000)),
        resetSeconds: Math.ceil(owed / 1000),
      };
    },
  };
}
