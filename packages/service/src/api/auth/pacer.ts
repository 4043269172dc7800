/** Turns at a steady pace, with a burst after a pause, for any number of takers in bounded memory. */
export interface Pace {
  /** How often in the long run. */
  perSecond: number;
  /** How often at once, after a pause. */
  burst: number;
}

export interface Turn {
  isGranted: boolean;
  /** How many more would be granted at once. */
  left: number;
  /** Until the next would be granted; 0 while one would. */
  retryAfterSeconds: number;
  /** Until as many would be granted as after a pause. */
  resetSeconds: number;
}

export interface Pacer {
  readonly burst: number;
  /** @param now milliseconds of a clock that only goes forward. */
  take(who: string, now?: number): Turn;
  /** Whether a turn would be granted. */
  mayTake(who: string, now?: number): boolean;
}

const MOST_TAKERS = 10_000;

/**
 * Of each taker one number is kept: the moment at which it will have used up what it took (the generic
 * cell rate algorithm).
 * @param mostTakers beyond which the one that has been silent for longest is forgotten.
 */
export function createPacer({ perSecond, burst }: Pace, mostTakers = MOST_TAKERS): Pacer {
  const turnMs = 1000 / perSecond;
  // Half a turn away from what a burst comes to, where rounding decides nothing.
  const mostOwedMs = (burst - 0.5) * turnMs;
  /** In the order of the last turn. */
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
