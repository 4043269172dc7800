/**
 * Performs a task, such as reading a chain, in only one process at a time: the one that holds the
 * lease. Leases expire by the ledger's clock. Writes that include the lease's epoch are rejected
 * after the lease is lost.
 */
import { createWaker } from '../base/waker.ts';
import { describeError, type Log } from '../base/log.ts';
import type { ChainReport } from '../store/leases/contract.ts';
import type { Store } from '../store/store.ts';
import { type LeaseHolder, LEASE_MS, RENEW_MS } from './holder.ts';

export interface Duty {
  start(): void;
  /** Checks now whether the lease was lost, or whether `isOwn` has changed. */
  check(): void;
  /** Ends the task and releases the lease, so that another process can take it at once. */
  stop(): Promise<void>;
}

/** The work of the process that holds the lease. */
export interface LeaseTerm {
  /** Returns the status to share with other processes; null for none. */
  report(): ChainReport | null;
  stop(): Promise<void>;
}

/**
 * Milliseconds between checks by standby processes, so that a dead holder is replaced within 7
 * seconds.
 */
export const STAND_BY_MS = 1_000;

export function createDuty({
  name,
  holder,
  store,
  log,
  isOwn,
  begin,
}: {
  /** Name of the lease. */
  name: string;
  holder: LeaseHolder;
  store: Pick<Store, 'takeLease' | 'giveUpLease' | 'signals'>;
  log: Log;
  /**
   * Whether this process should take the lease when it is free, and keep it. Default: always. If
   * this becomes false, a holder gives up the lease.
   */
  isOwn?: (() => boolean) | undefined;
  begin(epoch: number): LeaseTerm;
}): Duty {
  const shouldHold = (): boolean => !stopping && (isOwn === undefined || isOwn());
  let stopping = false;
  const waker = createWaker();
  let running: Promise<void> | undefined;

  /** Renews the lease until it is lost or handed over, or until the service stops. */
  const hold = async (epoch: number, term: LeaseTerm): Promise<void> => {
    for (;;) {
      try {
        if (!(await holder.renew({ name, epoch, report: term.report() }))) {
          log.warn('lease lost', { lease: name, epoch });
          return;
        }
      } catch (error) {
        // The task continues: no process can write while the ledger is unreachable, and afterward
        // the ledger rejects writes with an outdated epoch.
        log.warn('failed to renew a lease, retrying', {
          lease: name,
          error: describeError(error),
        });
      }
      if (!shouldHold()) return;
      await waker.sleep(RENEW_MS);
    }
  };

  const run = async (): Promise<void> => {
    let isStandingBy = false;
    while (!stopping) {
      try {
        const isCandidate = shouldHold();
        const epoch = isCandidate
          ? await store.takeLease({ name, holder: holder.id, forMs: LEASE_MS })
          : undefined;
        if (epoch !== undefined) {
          isStandingBy = false;
          log.info('lease taken', { lease: name, epoch });
          const term = begin(epoch);
          await hold(epoch, term);
          await term.stop();
          await store.giveUpLease({ name, epoch });
          continue;
        }
        if (isCandidate && !isStandingBy)
          log.info('standing by: another process holds the lease', { lease: name });
        isStandingBy = isCandidate;
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
      if (isOwn === undefined) forget = store.signals.on('leases', waker.wake);
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
