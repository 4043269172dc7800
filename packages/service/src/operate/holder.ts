/** Identifies this process as a holder of leases, and renews its leases. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { RenewedLease } from '../store/leases/contract.ts';
import type { Store } from '../store/store.ts';

export interface LeaseHolder {
  /** Unique name of this process in its leases. */
  readonly id: string;
  /**
   * Extends a lease; returns false if another process has taken it. Renewals that arrive while one
   * is running share the next statement, so that many leases are renewed in time on a slow ledger.
   */
  renew(lease: RenewedLease): Promise<boolean>;
}

export const LEASE_MS = 6_000;
export const RENEW_MS = 2_000;

export function createHolder(store: Pick<Store, 'renewLeases'>): LeaseHolder {
  let waiting: { lease: RenewedLease; renewed: PromiseWithResolvers<boolean> }[] = [];
  let isRunning = false;

  const run = async (): Promise<void> => {
    isRunning = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const held = await store.renewLeases(
          batch.map(({ lease }) => lease),
          LEASE_MS,
        );
        for (const { lease, renewed } of batch) renewed.resolve(held.includes(lease.name));
      } catch (error) {
        for (const { renewed } of batch) renewed.reject(error);
      }
    }
    isRunning = false;
  };

  return {
    // Processes in containers may have the same host name and process id.
    id: `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`,
    renew(lease) {
      const renewed = Promise.withResolvers<boolean>();
      waiting.push({ lease, renewed });
      if (!isRunning) void run();
      return renewed.promise;
    },
  };
}
