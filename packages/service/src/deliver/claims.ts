/** Claims due deliveries while there is room for them, and begins them a few at a time. */
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../base/log.ts';
import { createWaker } from '../base/waker.ts';
import type { ClaimedDelivery } from '../store/deliveries/contract.ts';
import type { Store } from '../store/store.ts';
import type { StreamStats } from '../store/stats/contract.ts';

type Lease = Pick<ClaimedDelivery, 'id' | 'leaseToken'>;

export interface Leases {
  start(): void;
  /** Extends this lease from now on, until the delivery's outcome is recorded or it is given up. */
  hold(lease: Lease): void;
  drop(lease: Lease): void;
  /** Extends leases that may have run out. Returns those still held; undefined when the ledger fails. */
  renew<Held extends Lease>(leases: readonly Held[]): Promise<Held[] | undefined>;
  stop(): void;
}

/** Longer than any attempt. */
export const LEASE_MS = 40_000;
/** What took this much longer than planned was done by a process that stalled: its leases may be another's. */
export const STALL_MS = LEASE_MS / 4;
const EXTEND_MS = LEASE_MS / 6;
const SWEEP_MS = 3_000;

/**
 * The leases under which this process has deliveries. They are extended while it lives, so one runs out
 * only when its process is gone or stalled; the deliveries of such leases return to the queue.
 */
export function createLeases({
  store,
  log,
  onReleased,
}: {
  store: Pick<Store, 'engine' | 'extendLeases' | 'releaseLeases'>;
  log: Log;
  /** Leases ran out, of whichever process. */
  onReleased(result: Awaited<ReturnType<Store['releaseLeases']>>): void;
}): Leases {
  const held = new Map<string, string>();
  const timers: NodeJS.Timeout[] = [];

  const extendAll = (): void => {
    const leases = [...held].map(([id, leaseToken]) => ({ id, leaseToken }));
    store
      .extendLeases(leases, LEASE_MS)
      .catch((error: unknown) => log.error('cannot extend leases', { error: String(error) }));
  };
  const sweep = (): void => {
    store
      .releaseLeases('expired')
      .then(onReleased, (error: unknown) =>
        log.error('cannot sweep leases', { error: String(error) }),
      );
  };

  return {
    start() {
      // One process owns a SQLite ledger: its leases end with it, and no clock ends them sooner.
      if (store.engine === 'sqlite') return;
      timers.push(setInterval(extendAll, EXTEND_MS), setInterval(sweep, SWEEP_MS));
    },
    hold: ({ id, leaseToken }) => void held.set(id, leaseToken),
    drop({ id, leaseToken }) {
      // It may have been claimed anew meanwhile.
      if (held.get(id) === leaseToken) held.delete(id);
    },
    async renew(leases) {
      const ids = await store.extendLeases(leases, LEASE_MS).catch(() => undefined);
      return ids && leases.filter(({ id }) => ids.includes(id));
    },
    stop() {
      for (const timer of timers) clearInterval(timer);
    },
  };
}

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

/**
 * Each stream's lane: how many of its deliveries are not finished yet, and how many of those this process
 * has under way.
 */
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

export interface Claims {
  start(): void;
  /** There may be more to claim, or more room. */
  wake(): void;
  /** Whether claimed deliveries are left to begin. */
  isBeginning(): boolean;
  /** Milliseconds by which the ledger's clock is ahead of this process's, as of the last claim. */
  clockSkewMs(): number;
  /** Claims nothing more; what is claimed still begins. */
  stop(): Promise<void>;
}

/** So many that the ledger writes hundreds at a time: what a write costs besides is shared by them. */
const IN_FLIGHT = 2048;
/**
 * Begun at each turn of the event loop: answers come in between, and the next ones go over the same
 * connections. Hundreds begun at once would each want one of their own, and outlive two collections of
 * young objects.
 */
const BEGUN_AT_ONCE = 8;
/** More is claimed once no more than these are left to begin, so that nobody waits for the ledger. */
const CLAIM_AHEAD = 512;
/** Of all bodies under way together, so that large webhooks do not fill the memory. */
const BYTES_IN_FLIGHT = 64 * 1024 * 1024;
/** A wake-up may be lost; a retry becomes due without one. */
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
  lanes: Pick<Lanes, 'bytes' | 'total'>;
  leases: Pick<Leases, 'renew'>;
  /** By stream, room that claims must leave alone. */
  taken(): Record<string, number>;
  /** The delivery is under way from now on. */
  enter(delivery: ClaimedDelivery): void;
  /** Its lease is another's by now. */
  giveUp(delivery: ClaimedDelivery): void;
  attempt(delivery: ClaimedDelivery, claimedAt: number): Promise<void>;
  onAllBegun(): void;
  /** Nothing more begins. */
  overdue: AbortSignal;
}): Claims {
  /** Claimed, and not begun yet; and when they were asked for. */
  const waiting: { delivery: ClaimedDelivery; askedAt: number }[] = [];
  const waker = createWaker();
  let clockSkewMs = 0;
  let stopping = false;
  let claiming: Promise<void> | undefined;
  let beginning: Promise<void> | undefined;

  const begin = async (): Promise<void> => {
    while (waiting.length > 0 && !overdue.aborted) {
      const hadMany = waiting.length > CLAIM_AHEAD;
      const few = waiting.splice(0, BEGUN_AT_ONCE);
      const deliveries = few.map(({ delivery }) => delivery);
      const isLate = performance.now() - few[0]!.askedAt > STALL_MS;
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

  /** Returns none while there is no room, or while the ledger is unavailable. */
  const claimDue = async (): Promise<ClaimedDelivery[]> => {
    const limit = IN_FLIGHT - lanes.total();
    const maxBytes = BYTES_IN_FLIGHT - lanes.bytes();
    if (waiting.length > CLAIM_AHEAD || limit <= 0 || maxBytes <= 0) return [];
    try {
      return await store.claimDeliveries({
        limit,
        maxBytes,
        perStream: IN_FLIGHT_PER_STREAM,
        taken: taken(),
        leaseMs: LEASE_MS,
      });
    } catch (error) {
      log.error('cannot claim deliveries, trying again', { error: String(error) });
      await wait(STORE_RETRY_MS);
      return [];
    }
  };

  const claim = async (): Promise<void> => {
    while (!stopping) {
      const askedAt = performance.now();
      const claimed = await claimDue();
      if (claimed.length === 0) {
        await waker.sleep(POLL_MS);
        continue;
      }
      clockSkewMs = claimed[0]!.claimedAt - Date.now();
      for (const delivery of claimed) {
        enter(delivery);
        waiting.push({ delivery, askedAt });
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
