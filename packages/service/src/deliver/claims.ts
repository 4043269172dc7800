/** Claims due deliveries while there is capacity, and starts them a few at a time. */
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../base/log.ts';
import { startStopwatch } from './stopwatch.ts';
import { createWaker } from '../base/waker.ts';
import type { ClaimedDelivery } from '../store/deliveries/contract.ts';
import { toRetryCapacity } from '../store/deliveries/lanes.ts';
import type { Store } from '../store/store.ts';
import type { StreamStats } from '../store/stats/contract.ts';

type Lease = Pick<ClaimedDelivery, 'id' | 'leaseToken'>;

export interface Leases {
  start(): void;
  /** Keeps extending this lease until it is dropped. */
  hold(lease: Lease): void;
  drop(lease: Lease): void;
  /** Drops the lease of a delivery without an outcome, which then returns to the queue. */
  abandon(lease: Lease): void;
  /**
   * Extends leases that may have expired. Returns the leases that are still held, or undefined if
   * the ledger fails or stays too slow.
   */
  renew<Held extends Lease>(leases: readonly Held[]): Promise<Held[] | undefined>;
  stop(): void;
}

/** Duration of a lease, longer than any attempt. */
export const LEASE_MS = 40_000;
/** Delay of a step above which the process counts as stalled and may have lost its leases. */
export const STALL_MS = LEASE_MS / 4;
const EXTEND_MS = LEASE_MS / 6;
/** Maximum number of times in a row that leases are extended because the ledger is too slow. */
const MAX_RENEWALS = 3;
const SWEEP_MS = 3_000;

/**
 * Extends the leases of this process on deliveries while it runs. After it ends or stalls, its
 * leases expire and the deliveries return to the queue. On SQLite, only abandoned leases expire,
 * because the ledger belongs to one process.
 */
export function createLeases({
  store,
  log,
  onReleased,
}: {
  store: Pick<Store, 'engine' | 'extendLeases' | 'releaseLeases'>;
  log: Log;
  /** Called after each sweep, which releases the expired leases of all processes. */
  onReleased(result: Awaited<ReturnType<Store['releaseLeases']>>): void;
}): Leases {
  const held = new Map<string, string>();
  /** Abandoned leases on SQLite, and the milliseconds since then. */
  let abandoned: { lease: Lease; elapsedMs: () => number }[] = [];
  const timers: NodeJS.Timeout[] = [];

  const extendAll = (): void => {
    const leases = [...held].map(([id, leaseToken]) => ({ id, leaseToken }));
    store
      .extendLeases(leases, LEASE_MS)
      .catch((error: unknown) => log.error('failed to extend leases', { error: String(error) }));
  };
  const sweep = async (): Promise<void> => {
    const expired = abandoned.filter(({ elapsedMs }) => elapsedMs() > LEASE_MS);
    if (store.engine === 'sqlite' && expired.length === 0) return;
    abandoned = abandoned.filter((each) => !expired.includes(each));
    try {
      onReleased(
        await store.releaseLeases(
          store.engine === 'sqlite' ? expired.map(({ lease }) => lease) : 'expired',
        ),
      );
    } catch (error) {
      abandoned.push(...expired);
      log.error('failed to release expired leases', { error: String(error) });
    }
  };
  const drop = ({ id, leaseToken }: Lease): void => {
    // The delivery may have been claimed again in the meantime.
    if (held.get(id) === leaseToken) held.delete(id);
  };

  return {
    start() {
      timers.push(setInterval(() => void sweep(), SWEEP_MS));
      if (store.engine !== 'sqlite') timers.push(setInterval(extendAll, EXTEND_MS));
    },
    hold: ({ id, leaseToken }) => void held.set(id, leaseToken),
    drop,
    abandon({ id, leaseToken }) {
      drop({ id, leaseToken });
      if (store.engine !== 'sqlite') return;
      abandoned.push({ lease: { id, leaseToken }, elapsedMs: startStopwatch() });
    },
    async renew(leases) {
      let held = leases;
      for (let tries = 0; tries < MAX_RENEWALS; tries++) {
        const elapsedMs = startStopwatch();
        const ids = await store.extendLeases(held, LEASE_MS).catch(() => undefined);
        if (ids === undefined) return undefined;
        held = held.filter(({ id }) => ids.includes(id));
        // If the process stalled meanwhile, the extended leases may have expired again.
        if (held.length === 0 || elapsedMs() <= STALL_MS) return [...held];
      }
      return undefined;
    },
    stop() {
      for (const timer of timers) clearInterval(timer);
    },
  };
}

export const IN_FLIGHT_PER_STREAM = 64;

type UnderWay = Pick<ClaimedDelivery, 'streamId' | 'bodyBytes' | 'attempts'>;

/** Deliveries in flight in this process. */
export interface Load {
  /** Number of deliveries by stream id. Streams without any are omitted. */
  readonly byStream: Readonly<Record<string, number>>;
  readonly total: number;
  /** Total size of the bodies in bytes. */
  readonly bytes: number;
}

export interface Lanes {
  /**
   * Returns the number of unfinished deliveries of a stream, sent to receivers as `x-queue-size`.
   */
  queued(streamId: string): number;
  count(streamId: string, change: number): void;
  /** Replaces the numbers of unfinished deliveries, which other processes change too. */
  recount(stats: readonly Pick<StreamStats, 'streamId' | 'queue'>[]): void;
  /** Counts the delivery as in flight until `leave` is called. */
  enter(delivery: UnderWay): void;
  leave(delivery: UnderWay): void;
  readonly underWay: Load;
  /** The deliveries in flight that were attempted before. */
  readonly retries: Load;
  /** Resolves when nothing is in flight. */
  emptied(): Promise<void>;
}

/**
 * Counts the unfinished deliveries of each stream, and the deliveries that this process has in
 * flight.
 */
export function createLanes(): Lanes {
  const queued = new Map<string, number>();
  const underWay = { byStream: {} as Record<string, number>, total: 0, bytes: 0 };
  const retries = { byStream: {} as Record<string, number>, total: 0, bytes: 0 };
  let onEmpty = (): void => {};

  const count = (streamId: string, change: number): void => {
    const n = (queued.get(streamId) ?? 0) + change;
    if (n > 0) queued.set(streamId, n);
    else queued.delete(streamId);
  };

  const change = (
    load: { byStream: Record<string, number>; total: number; bytes: number },
    { streamId, bodyBytes }: UnderWay,
    by: 1 | -1,
  ): void => {
    const n = (load.byStream[streamId] ?? 0) + by;
    if (n > 0) load.byStream[streamId] = n;
    else delete load.byStream[streamId];
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

export interface Claims {
  start(): void;
  /** Checks for due deliveries, because there may be new ones or more capacity. */
  wake(): void;
  /** Returns whether claimed deliveries are waiting to be started. */
  isBeginning(): boolean;
  /**
   * Returns the milliseconds by which the ledger's clock is ahead of this process's clock, as of
   * the last claim.
   */
  clockSkewMs(): number;
  /** Stops claiming. Deliveries that are already claimed are still started. */
  stop(): Promise<void>;
}

/**
 * Maximum number of deliveries in flight. It is large enough for the ledger to write hundreds of
 * outcomes at a time, which amortizes the cost of a write.
 */
const IN_FLIGHT = 2048;
/**
 * Number of deliveries started per turn of the event loop. Responses arrive between turns and free
 * connections; if hundreds were started at once, each would open a new connection.
 */
const STARTED_AT_ONCE = 8;
/**
 * Maximum number of deliveries waiting to be started at which more are claimed, so that sending
 * does not wait for the ledger.
 */
const CLAIM_AHEAD = 512;
/**
 * Maximum total size of the bodies in flight, in bytes, so that large webhooks do not exhaust
 * memory.
 */
const BYTES_IN_FLIGHT = 64 * 1024 * 1024;
/** Interval of polls, because signals may be lost, and retries become due without a signal. */
const POLL_MS = 250;
const STORE_RETRY_MS = 1_000;

export function createClaims({
  store,
  log,
  lanes,
  leases,
  taken,
  enter,
  giveUp,
  attempt,
  onAllBegun,
  overdue,
}: {
  store: Pick<Store, 'claimDeliveries'>;
  log: Log;
  lanes: Pick<Lanes, 'underWay' | 'retries'>;
  leases: Pick<Leases, 'renew'>;
  /** Returns, by stream id, the part of `IN_FLIGHT_PER_STREAM` that claims must not use. */
  taken(): Record<string, number>;
  /** Counts the delivery as in flight, and keeps extending its lease. */
  enter(delivery: ClaimedDelivery): void;
  /**
   * Called for a delivery that is not sent, because another process may have taken over its lease.
   */
  giveUp(delivery: ClaimedDelivery): void;
  attempt(delivery: ClaimedDelivery, claimedAt: number): Promise<void>;
  onAllBegun(): void;
  /** Signal that is aborted when no more deliveries may be started. */
  overdue: AbortSignal;
}): Claims {
  /**
   * Claimed deliveries that have not been started, the time at which their claim was requested, and
   * the milliseconds since then.
   */
  const waiting: { delivery: ClaimedDelivery; askedAt: number; elapsedMs: () => number }[] = [];
  const waker = createWaker();
  let clockSkewMs = 0;
  let stopping = false;
  let claiming: Promise<void> | undefined;
  let beginning: Promise<void> | undefined;

  const begin = async (): Promise<void> => {
    while (waiting.length > 0 && !overdue.aborted) {
      const hadMany = waiting.length > CLAIM_AHEAD;
      const few = waiting.splice(0, STARTED_AT_ONCE);
      const deliveries = few.map(({ delivery }) => delivery);
      const isLate = few[0]!.elapsedMs() > STALL_MS;
      const ours = new Set(isLate ? await leases.renew(deliveries) : deliveries);
      for (const { delivery, askedAt } of few) {
        if (ours.has(delivery)) void attempt(delivery, askedAt);
        else giveUp(delivery);
      }
      if (hadMany && waiting.length <= CLAIM_AHEAD) waker.wake();
      await nextTurn();
    }
    beginning = undefined;
    onAllBegun();
  };

  /** Claims deliveries. Returns none at full capacity, or if the ledger fails. */
  const claimDue = async (): Promise<ClaimedDelivery[]> => {
    const limit = IN_FLIGHT - lanes.underWay.total;
    const maxBytes = BYTES_IN_FLIGHT - lanes.underWay.bytes;
    if (waiting.length > CLAIM_AHEAD || limit <= 0 || maxBytes <= 0) return [];
    try {
      return await store.claimDeliveries({
        limit,
        maxBytes,
        perStream: IN_FLIGHT_PER_STREAM,
        taken: taken(),
        retries: {
          limit: toRetryCapacity(IN_FLIGHT) - lanes.retries.total,
          maxBytes: toRetryCapacity(BYTES_IN_FLIGHT) - lanes.retries.bytes,
          taken: lanes.retries.byStream,
        },
        leaseMs: LEASE_MS,
      });
    } catch (error) {
      log.error('failed to claim deliveries, retrying', { error: String(error) });
      await wait(STORE_RETRY_MS);
      return [];
    }
  };

  const claim = async (): Promise<void> => {
    while (!stopping) {
      const askedAt = performance.now();
      const elapsedMs = startStopwatch();
      const claimed = await claimDue();
      if (claimed.length === 0) {
        await waker.sleep(POLL_MS);
        continue;
      }
      clockSkewMs = claimed[0]!.claimedAt - Date.now();
      for (const delivery of claimed) {
        enter(delivery);
        waiting.push({ delivery, askedAt, elapsedMs });
      }
      beginning ??= begin();
    }
  };

  return {
    start: () => void (claiming = claim()),
    wake: waker.wake,
    isBeginning: () => waiting.length > 0,
    clockSkewMs: () => clockSkewMs,
    async stop() {
      stopping = true;
      waker.wake();
      await claiming;
    },
  };
}
