/**
 * Paces the requests to one provider: additive increase, multiplicative decrease, as in TCP. Each
 * success raises the concurrency slightly; each "too many requests" halves it and spreads requests
 * out.
 */
import { SourceError } from '../source.ts';

export interface Pace {
  /** The `performance.now` time at which the provider's pause ends; 0 while it is not paused. */
  readonly pausedUntil: number;
  /** Runs the request when its turn comes; while paused, throws `rate-limited` immediately. */
  run<T>(request: () => Promise<T>, order?: RequestOrder): Promise<T>;
}

/**
 * The order of a request: `aside` and `slow` requests start only when no request of an earlier
 * order can start. Those of both orders use at most half of the capacity, so that blocks are hardly
 * delayed, and `slow` ones a quarter.
 */
export type RequestOrder = 'ordinary' | 'aside' | 'slow';

const ORDERS: readonly RequestOrder[] = ['ordinary', 'aside', 'slow'];

type Turn = PromiseWithResolvers<void>;

const START_AT_ONCE = 8;
const MAX_AT_ONCE = 32;
const MIN_GAP_MS = 10;
const MAX_GAP_MS = 1_000;
/**
 * Factor that each success applies to the gap between requests. The gap is 0 after at most a few
 * hundred successes.
 */
const GAP_DECAY = 0.98;

export function createPace(name: string): Pace {
  let allowed = START_AT_ONCE;
  let gapMs = 0;
  let nextStart = 0;
  let pausedUntil = 0;
  let lastCut = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  const queues = ORDERS.map(() => ({ waiting: [] as Turn[], running: 0 }));

  /** Returns whether a request of this order, or of a later one, may start. */
  const hasRoom = (order: number): boolean =>
    queues.slice(order).reduce((sum, { running }) => sum + running, 0) <
    Math.max(1, Math.floor(allowed / 2 ** order));

  const findNext = (): (typeof queues)[number] | undefined => {
    for (const [order, queue] of queues.entries()) {
      if (!hasRoom(order)) return undefined;
      if (queue.waiting.length > 0) return queue;
    }
    return undefined;
  };

  const pauseError = (): SourceError | undefined => {
    const leftMs = pausedUntil - performance.now();
    if (leftMs <= 0) return undefined;
    return new SourceError(
      'rate-limited',
      `${name}: rate limited for another ${Math.ceil(leftMs / 1_000)} s`,
      { retryAfterMs: leftMs },
    );
  };

  /**
   * Starts the requests that may run now, or rejects all waiting requests while paused. Sets a
   * timer if only the gap delays the next request.
   */
  const admit = (): void => {
    clearTimeout(timer);
    const paused = pauseError();
    if (paused !== undefined) {
      for (const { waiting } of queues) for (const each of waiting.splice(0)) each.reject(paused);
      return;
    }
    for (let next = findNext(); next !== undefined; next = findNext()) {
      const waitMs = nextStart - performance.now();
      if (waitMs > 0) {
        timer = setTimeout(admit, waitMs);
        return;
      }
      next.running++;
      nextStart = performance.now() + gapMs;
      next.waiting.shift()!.resolve();
    }
  };

  /** Pauses the requests, and slows them down at most once per second. */
  const slowDown = (retryAfterMs: number): void => {
    const now = performance.now();
    pausedUntil = Math.max(pausedUntil, now + retryAfterMs);
    if (now - lastCut < 1_000) return;
    lastCut = now;
    allowed = Math.max(1, allowed / 2);
    gapMs = Math.min(MAX_GAP_MS, Math.max(MIN_GAP_MS, gapMs * 2));
  };

  return {
    get pausedUntil() {
      return pausedUntil > performance.now() ? pausedUntil : 0;
    },
    async run(request, order = 'ordinary') {
      const turn: Turn = Promise.withResolvers();
      const queue = queues[ORDERS.indexOf(order)]!;
      queue.waiting.push(turn);
      admit();
      await turn.promise;
      try {
        const result = await request();
        allowed = Math.min(MAX_AT_ONCE, allowed + 1 / allowed);
        gapMs = gapMs < 1 ? 0 : gapMs * GAP_DECAY;
        return result;
      } catch (error) {
        if (error instanceof SourceError && error.kind === 'rate-limited') {
          slowDown(error.retryAfterMs ?? 0);
        }
        throw error;
      } finally {
        queue.running--;
        admit();
      }
    },
  };
}
