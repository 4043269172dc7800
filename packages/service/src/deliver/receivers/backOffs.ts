/**
 * Records in the ledger which receivers are backed off, for the console and the API. Each process
 * decides in memory when to back off (`breaker.ts`), but ends a back-off early if a replay, a new URL
 * or another process recorded an earlier end.
 */
import { type Log, describeError } from '../../base/log.ts';
import type { Store } from '../../store/store.ts';
import type { Breaker, BackOffPeriod } from './breaker.ts';

export interface BackOffs {
  start(): Promise<void>;
  /** Writes the receiver's state if it changed. Pass undefined for a healthy receiver. */
  note(streamId: string, breaker: Breaker | undefined): Promise<void>;
  stop(): Promise<void>;
}

/** Minimum length of a recorded pause; shorter ones are over before they can be shown. */
const SHORTEST_MS = 5_000;
/**
 * Difference between the ends of two back-offs below which they count as equal, because many 429
 * responses arrive together.
 */
const SAME_MS = 1_000;
const CHECK_MS = 1_000;

interface Recorded {
  breaker: Breaker;
  /** Recorded period without attempts, on the same clock as the breakers. */
  backOff: BackOffPeriod;
  /** Recorded end in Unix milliseconds; undefined while it is being written. */
  until: number | undefined;
}

export function createBackOffs({
  store,
  log,
  onHastened,
}: {
  store: Pick<Store, 'isShared' | 'listBackOffs' | 'backOffStream' | 'endBackOff'>;
  log: Log;
  /** Called when sending to a receiver may resume earlier than planned. */
  onHastened(): void;
}): BackOffs {
  const recorded = new Map<string, Recorded>();
  let looker: NodeJS.Timeout | undefined;
  let isStopped = false;
  /** The last write. Writes run one after the other, so that the last state wins. */
  let writing: Promise<unknown> = Promise.resolve();
  const write = (work: () => Promise<unknown>): Promise<void> => {
    const written = writing.then(work).then(
      () => {},
      (error: unknown) => {
        log.warn('failed to record which receivers are backed off', {
          error: describeError(error),
        });
      },
    );
    writing = written;
    return written;
  };

  const look = async (): Promise<void> => {
    const now = performance.now();
    const asked = [...recorded].filter(
      ([, { until, backOff }]) => until !== undefined && backOff.until > now,
    );
    if (asked.length === 0) return;
    const leftMsOf = new Map(
      (await store.listBackOffs()).map(({ streamId, until, leftMs }) => [
        streamId,
        { until, leftMs },
      ]),
    );
    for (const [streamId, each] of asked) {
      const kept = leftMsOf.get(streamId) ?? { until: 0, leftMs: 0 };
      // Skips records that changed after the query was sent, or that do not end earlier.
      if (recorded.get(streamId) !== each || kept.until >= each.until!) continue;
      each.breaker.hasten(performance.now() + kept.leftMs);
      each.backOff.until = performance.now() + kept.leftMs;
      each.until = kept.until;
      onHastened();
    }
  };

  return {
    async start() {
      // All circuit breakers of this process are closed, so records of an earlier one no longer apply.
      if (!store.isShared) {
        await store.endBackOff((await store.listBackOffs()).map(({ streamId }) => streamId));
      }
      looker = setInterval(() => void look().catch(() => {}), CHECK_MS);
    },
    async note(streamId, breaker) {
      if (isStopped) return;
      const now = performance.now();
      const backOff = breaker?.backOff(now);
      const known = recorded.get(streamId);
      if (breaker === undefined || backOff === undefined) {
        if (known === undefined) return;
        recorded.delete(streamId);
        await write(() => store.endBackOff([streamId]));
        return;
      }
      const isSame = known !== undefined && Math.abs(backOff.until - known.backOff.until) < SAME_MS;
      if (isSame || (known === undefined && backOff.until - now < SHORTEST_MS)) return;
      const news: Recorded = { breaker, backOff, until: undefined };
      recorded.set(streamId, news);
      await write(async () => {
        news.until = await store.backOffStream(streamId, {
          reason: backOff.reason,
          agoMs: Math.round(now - backOff.since),
          forMs: Math.round(backOff.until - now),
        });
      });
    },
    async stop() {
      isStopped = true;
      clearInterval(looker);
      await write(() => store.endBackOff([...recorded.keys()]));
    },
  };
}
