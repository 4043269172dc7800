/** Claims due deliveries while there is capacity, and starts them a few at a time. */
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../base/log.ts';
import { startStopwatch } from './stopwatch.ts';
import { createWaker } from '../base/waker.ts';
import { limitClaim } from './capacity.ts';
import type { ClaimedDelivery } from '../store/deliveries/contract.ts';
import type { Store } from '../store/store.ts';
import { type Leases, LEASE_MS, STALL_MS } from './leases.ts';
import type { Lanes } from './lanes.ts';

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
 * Number of deliveries started per turn of the event loop. Responses arrive between turns and free
 * connections; if hundreds were started at once, each would open a new connection.
 */
const STARTED_AT_ONCE = 8;
/**
 * Maximum number of deliveries waiting to be started at which more are claimed, so that sending
 * does not wait for the ledger.
 */
const CLAIM_AHEAD = 512;
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
  lanes: Pick<Lanes, 'loads' | 'quick'>;
  leases: Pick<Leases, 'renew'>;
  /**
   * Returns, by stream id, the part of `IN_FLIGHT_PER_STREAM` that claims must not use, given the
   * deliveries in flight.
   */
  taken(inFlight: Record<string, number>): Record<string, number>;
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
    if (waiting.length > CLAIM_AHEAD) return [];
    const limits = limitClaim(lanes, taken);
    if (limits === undefined) return [];
    try {
      return await store.claimDeliveries({ ...limits, leaseMs: LEASE_MS });
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
