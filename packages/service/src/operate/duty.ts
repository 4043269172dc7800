/**
 * A task that only one process at a time performs, such as reading a chain: the process that holds
 * the lease. The ledger's clock and the lease's epoch decide, so the ledger rejects writes after
 * the lease was lost.
 */
import { createWaker } from '../base/waker.ts';
import { hostname } from 'node:os';
import { describeError, type Log } from '../base/log.ts';
import type { ChainReport } from '../store/upkeep/contract.ts';
import type { Store } from '../store/store.ts';

export interface Duty {
  start(): void;
  /** Checks the lease now, because it may have been lost. */
  check(): void;
  /** Ends the task and releases the lease, so that another process can take it at once. */
  stop(): Promise<void>;
}

/** The work of the process that holds the lease. */
export interface Term {
  /** Returns the status to share with other processes; null for none. */
  report(): ChainReport | null;
  stop(): Promise<void>;
}

const LEASE_MS = 6_000;
const RENEW_MS = 2_000;
/**
 * Milliseconds between checks by standby processes, so that a dead holder is replaced within 7
 * seconds.
 */
const STAND_BY_MS = 1_000;

const HOLDER = `${hostname()}:${process.pid}`;

export function createDuty({
  name,
  store,
  log,
  begin,
}: {
  /** Name of the lease. */
  name: string;
  store: Store;
  log: Log;
  begin(epoch: number): Term;
}): Duty {
  let stopping = false;
  const waker = createWaker();
  let running: Promise<void> | undefined;

  /** Renews the lease until it is lost or the service stops. */
  const hold = async (epoch: number, term: Term): Promise<void> => {
    while (!stopping) {
      try {
        const isHeld = await store.renewLease({
          name,
          epoch,
          forMs: LEASE_MS,
          report: term.report(),
        });
        if (!isHeld) {
          log.warn('lease lost', { lease: name, epoch });
          return;
        }
      } catch (error) {
        // The ledger rejects outdated writes; while it is unreachable, no process can write.
        log.warn('failed to renew a lease, retrying', {
          lease: name,
          error: describeError(error),
        });
      }
      await waker.sleep(RENEW_MS);
    }
  };

  const run = async (): Promise<void> => {
    let isStandingBy = false;
    while (!stopping) {
      try {
        const epoch = await store.takeLease({ name, holder: HOLDER, forMs: LEASE_MS });
        if (epoch !== undefined) {
          isStandingBy = false;
          log.info('lease taken', { lease: name, epoch });
          const term = begin(epoch);
          await hold(epoch, term);
          await term.stop();
          await store.giveUpLease({ name, epoch });
          continue;
        }
        if (!isStandingBy)
          log.info('standing by: another process holds the lease', { lease: name });
        isStandingBy = true;
      } catch (error) {
        log.error('failed to take a lease, retrying', {
          lease: name,
          error: describeError(error),
        });
      }
      if (!stopping) await waker.sleep(STAND_BY_MS);
    }
  };

  let forget = (): void => {};

  return {
    start() {
      forget = store.signals.on('leases', waker.wake);
      running = run();
    },
    check: waker.wake,
    async stop() {
      stopping = true;
      forget();
      waker.wake();
      await running;
    },
  };
}
