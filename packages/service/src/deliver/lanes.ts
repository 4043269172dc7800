/**
 * Counts the unfinished deliveries of each stream, and the deliveries that this process has in
 * flight.
 */
import type { ClaimedDelivery } from '../store/deliveries/contract.ts';
import type { StreamActivity } from '../store/stats/contract.ts';

/** Duration of an attempt, including its wait for a turn, above which its stream is not quick. */
const SLOW_MS = 1_000;
/** Maximum number of quick streams, because each claim copies them between threads. */
const MAX_QUICK = 20_000;

type UnderWay = Pick<ClaimedDelivery, 'streamId' | 'bodyBytes' | 'attempts'>;

/** A number of deliveries, and the total size of their bodies in bytes. */
export interface DeliveryLoad {
  total: number;
  bytes: number;
}

/** Deliveries in flight in this process, and those among them that were attempted before. */
export interface LoadWithRetries extends DeliveryLoad {
  retries: DeliveryLoad;
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
  /** Returns the number of deliveries in flight. */
  total(): number;
  /** Returns the deliveries in flight by stream id. Streams without any are omitted. */
  loads(): Map<string, LoadWithRetries>;
  /**
   * Returns the streams whose last attempt took at most a second, if no attempt in flight has taken
   * longer. All others may keep their capacity for long.
   */
  quick(): ReadonlySet<string>;
  /** Resolves when nothing is in flight. */
  emptied(): Promise<void>;
}

export function createLanes(): Lanes {
  const queued = new Map<string, number>();
  /** Deliveries in flight, oldest first, and the times at which they entered. */
  const underWay = new Map<UnderWay, number>();
  /** Streams whose last attempt was quick, the most recent last. */
  const quick = new Set<string>();
  let onEmpty = (): void => {};

  const count = (streamId: string, change: number): void => {
    const n = (queued.get(streamId) ?? 0) + change;
    if (n > 0) queued.set(streamId, n);
    else queued.delete(streamId);
  };

  return {
    queued: (streamId) => queued.get(streamId) ?? 0,
    count,
    recount(stats) {
      queued.clear();
      for (const { streamId, queue } of stats) count(streamId, queue);
    },
    enter: (delivery) => void underWay.set(delivery, performance.now()),
    leave(delivery) {
      const isQuick = performance.now() - underWay.get(delivery)! <= SLOW_MS;
      underWay.delete(delivery);
      quick.delete(delivery.streamId);
      if (isQuick) quick.add(delivery.streamId);
      if (quick.size > MAX_QUICK) quick.delete(quick.values().next().value!);
      if (underWay.size === 0) onEmpty();
    },
    total: () => underWay.size,
    loads() {
      const loads = new Map<string, LoadWithRetries>();
      for (const { streamId, bodyBytes, attempts } of underWay.keys()) {
        let load = loads.get(streamId);
        if (load === undefined) loads.set(streamId, (load = noLoad()));
        addTo(load, bodyBytes);
        if (attempts > 0) addTo(load.retries, bodyBytes);
      }
      return loads;
    },
    quick() {
      const since = performance.now() - SLOW_MS;
      for (const [{ streamId }, enteredAt] of underWay) {
        if (enteredAt > since) break;
        quick.delete(streamId);
      }
      return quick;
    },
    emptied: () =>
      new Promise((resolve) => {
        onEmpty = resolve;
        if (underWay.size === 0) resolve();
      }),
  };
}

const noLoad = (): LoadWithRetries => ({ total: 0, bytes: 0, retries: { total: 0, bytes: 0 } });

function addTo(load: DeliveryLoad, bodyBytes: number): void {
  load.total++;
  load.bytes += bodyBytes;
}

/** Returns the number of deliveries in flight by stream id. */
export const toCounts = (
  loads: Iterable<readonly [string, DeliveryLoad]>,
): Record<string, number> =>
  Object.fromEntries([...loads].map(([streamId, { total }]) => [streamId, total]));

/** Returns the sum of these loads. */
export function sumLoads(loads: Iterable<LoadWithRetries>): LoadWithRetries {
  const sum = noLoad();
  for (const { total, bytes, retries } of loads) {
    sum.total += total;
    sum.bytes += bytes;
    sum.retries.total += retries.total;
    sum.retries.bytes += retries.bytes;
  }
  return sum;
}
