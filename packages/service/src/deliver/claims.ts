/** Claims due deliveries while there is room for them, and begins them a few at a time. */
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../base/log.ts';
import { createWaker } from '../base/waker.ts';
import type { ClaimedDelivery } from '../store/deliveries/contract.ts';
import type { Store } from '../store/store.ts';
import { IN_FLIGHT_PER_STREAM, type Lanes } from './lanes.ts';
import { LEASE_MS, type Leases, STALL_MS } from './leases.ts';

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
