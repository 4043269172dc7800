/**
 * Something that one process at a time does, whoever of those that stand for it holds its lease: reading
 * a chain, for one. The ledger's clock and the lease's epoch decide, not this process: what it still
 * writes after it lost the lease, the ledger refuses.
 */
import { createWaker } from '../base/waker.ts';
import { hostname } from 'node:os';
import { describeError, type Log } from '../base/log.ts';
import type { ChainReport } from '../store/upkeep/contract.ts';
import type { Store } from '../store/store.ts';

export interface Duty {
  start(): void;
  /** The lease may have been lost: look now. */
  check(): void;
  /** Ends what is done, and gives the lease up: another takes it at once. */
  stop(): Promise<void>;
}

/** What is done from taking the lease until losing it. */
export interface Term {
  /** What others may know of it; null for nothing. */
  report(): ChainReport | null;
  stop(): Promise<void>;
}

const LEASE_MS = 6_000;
const RENEW_MS = 2_000;
/** Between looks of those that stand by: a holder that died is followed within 7 seconds. */
const STAND_BY_MS = 1_000;

const HOLDER = `${hostname()}:${process.pid}`;

export function createDuty({
  name,
  store,
  log,
  begin,
}: {
  /** Of the lease. */
  name: string;
  store: Store;
  log: Log;
  begin(epoch: number): Term;
}): Duty {
  let stopping = false;
  const waker = createWaker();
  let running: Promise<void> | undefined;

  /** Until it is lost, or to be given up. */
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
        // The ledger fences what we write; while it is out of reach nobody writes.
        log.warn('cannot renew a lease, trying again', {
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
        if (!isStandingBy) log.info('standing by: another process has the lease', { lease: name });
        isStandingBy = true;
      } catch (error) {
        log.error('cannot take a lease, trying again', {
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
      forget = store.notices.on('leases', waker.wake);
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
