/**
 * Counts the unfinished deliveries of each stream, and the deliveries that this process has in
 * flight.
 */
import type { ClaimedDelivery } from '../store/deliveries/contract.ts';
import type { StreamActivity } from '../store/stats/contract.ts';

export const IN_FLIGHT_PER_STREAM = 64;

type UnderWay = Pick<ClaimedDelivery, 'streamId' | 'bodyBytes' | 'attempts'>;

/** Deliveries in flight in this process. */
export interface Load {
  /** Number of deliveries by stream id. Streams without any are omitted. */
  readonly byStream: Readonly<Record<string, number>>;
  readonly total: number;
  /** Total size of the bodies in bytes. */
  readonly bytes: number;
  /** Size of the bodies by stream id. Streams without any deliveries are omitted. */
  readonly bytesByStream: Readonly<Record<string, number>>;
}

export interface Lanes {
  /**
   * Returns the number of unfinished deliveries of a stream, sent to receivers as `x-queue-size`.
   */
  queued(streamId: string): number;
  count(streamId: string, change: number): void;
  /** Replaces the numbers of unfinished deliveries, which other processes change too. */
  recount(stats: readonly Pick<StreamActivity, 'streamId' | 'queue'>[]): void;
  /** Counts the delivery as in flight until `leave` is called. */
  enter(delivery: UnderWay): void;
  leave(delivery: UnderWay): void;
  readonly underWay: Load;
  /** The deliveries in flight that were attempted before. */
  readonly retries: Load;
  /** Resolves when nothing is in flight. */
  emptied(): Promise<void>;
}

const createLoad = () => ({
  byStream: {} as Record<string, number>,
  total: 0,
  bytes: 0,
  bytesByStream: {} as Record<string, number>,
});

export function createLanes(): Lanes {
  const queued = new Map<string, number>();
  const underWay = createLoad();
  const retries = createLoad();
  let onEmpty = (): void => {};

  const count = (streamId: string, change: number): void => {
    const n = (queued.get(streamId) ?? 0) + change;
    if (n > 0) queued.set(streamId, n);
    else queued.delete(streamId);
  };

  const change = (
    load: ReturnType<typeof createLoad>,
    { streamId, bodyBytes }: UnderWay,
    by: 1 | -1,
  ): void => {
    const n = (load.byStream[streamId] ?? 0) + by;
    const bytes = (load.bytesByStream[streamId] ?? 0) + by * bodyBytes;
    if (n > 0) {
      load.byStream[streamId] = n;
      load.bytesByStream[streamId] = bytes;
    } else {
      delete load.byStream[streamId];
      delete load.bytesByStream[streamId];
    }
    load.total += by;
    load.bytes += by * bodyBytes;
  };

  return {
    queued: (streamId) => queued.get(streamId) ?? 0,
    count,
    recount(stats) {
      queued.clear();
      for (const { streamId, queue } of stats) count(streamId, queue);
    },
    enter(delivery) {
      change(underWay, delivery, 1);
      if (delivery.attempts > 0) change(retries, delivery, 1);
    },
    leave(delivery) {
      change(underWay, delivery, -1);
      if (delivery.attempts > 0) change(retries, delivery, -1);
      if (underWay.total === 0) onEmpty();
    },
    underWay,
    retries,
    emptied: () =>
      new Promise((resolve) => {
        onEmpty = resolve;
        if (underWay.total === 0) resolve();
      }),
  };
}
