/**
 * The leases under which this process has deliveries. They are extended while it lives, so one runs out
 * only when its process is gone or stalled; the deliveries of such leases return to the queue.
 */
import type { Log } from '../base/log.ts';
import type { ClaimedDelivery } from '../store/deliveries/contract.ts';
import type { Store } from '../store/store.ts';

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
