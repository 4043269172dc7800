/**
 * Each stream's lane: how many of its deliveries are not finished yet, and how many of those this process
 * has under way.
 */
import type { ClaimedDelivery } from '../store/deliveries/contract.ts';
import type { StreamStats } from '../store/stats/contract.ts';

export const IN_FLIGHT_PER_STREAM = 64;

type UnderWay = Pick<ClaimedDelivery, 'streamId' | 'bodyBytes'>;

export interface Lanes {
  /** Unfinished deliveries of a stream; receivers get this as `x-queue-size`. */
  queued(streamId: string): number;
  count(streamId: string, change: number): void;
  /** Replaces all counts: other processes create and finish deliveries, too. */
  recount(stats: readonly Pick<StreamStats, 'streamId' | 'queue'>[]): void;
  /** The delivery is under way from now on, and until it leaves. */
  enter(delivery: UnderWay): void;
  leave(delivery: UnderWay): void;
  /** Deliveries under way by stream; streams without any are left out. */
  underWay(): Readonly<Record<string, number>>;
  total(): number;
  /** Bytes of the bodies under way. */
  bytes(): number;
  /** Resolves once nothing is under way. */
  emptied(): Promise<void>;
}

export function createLanes(): Lanes {
  const queued = new Map<string, number>();
  const underWay: Record<string, number> = {};
  let total = 0;
  let bytes = 0;
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
    enter({ streamId, bodyBytes }) {
      underWay[streamId] = (underWay[streamId] ?? 0) + 1;
      total++;
      bytes += bodyBytes;
    },
    leave({ streamId, bodyBytes }) {
      const left = (underWay[streamId] ?? 1) - 1;
      if (left === 0) delete underWay[streamId];
      else underWay[streamId] = left;
      total--;
      bytes -= bodyBytes;
      if (total === 0) onEmpty();
    },
    underWay: () => underWay,
    total: () => total,
    bytes: () => bytes,
    emptied: () =>
      new Promise((resolve) => {
        onEmpty = resolve;
        if (total === 0) resolve();
      }),
  };
}
