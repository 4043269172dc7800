/**
 * Extends the leases of this process on deliveries while it runs. After it ends or stalls, its
 * leases expire and the deliveries return to the queue. If the ledger is not shared, only abandoned
 * leases expire, because all leases belong to this process.
 */
import type { Log } from '../base/log.ts';
import { startStopwatch } from './stopwatch.ts';
import type { ClaimedDelivery } from '../store/deliveries/contract.ts';
import type { Store } from '../store/store.ts';

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

/** Duration of a lease, which is extended until the attempt ends. */
export const LEASE_MS = 40_000;
/** Delay of a step above which the process counts as stalled and may have lost its leases. */
export const STALL_MS = LEASE_MS / 4;
const EXTEND_MS = LEASE_MS / 6;
/** Maximum number of times in a row that leases are extended because the ledger is too slow. */
const MAX_RENEWALS = 3;
const SWEEP_MS = 3_000;

export function createLeases({
  store,
  log,
  onReleased,
}: {
  store: Pick<Store, 'isShared' | 'extendLeases' | 'releaseLeases'>;
  log: Log;
  /** Called after each sweep, which releases the expired leases of all processes. */
  onReleased(result: Awaited<ReturnType<Store['releaseLeases']>>): void;
}): Leases {
  const held = new Map<string, string>();
  /** Abandoned leases if the ledger is not shared, and the milliseconds since then. */
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
    if (!store.isShared && expired.length === 0) return;
    abandoned = abandoned.filter((each) => !expired.includes(each));
    try {
      onReleased(
        await store.releaseLeases(store.isShared ? 'expired' : expired.map(({ lease }) => lease)),
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
      if (store.isShared) timers.push(setInterval(extendAll, EXTEND_MS));
    },
    hold: ({ id, leaseToken }) => void held.set(id, leaseToken),
    drop,
    abandon({ id, leaseToken }) {
      drop({ id, leaseToken });
      if (store.isShared) return;
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
