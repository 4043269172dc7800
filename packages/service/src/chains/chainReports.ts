/** Reports the state of all chains, including chains that other processes read. */
import { createWaker } from '../base/waker.ts';
import type { FollowedChain } from './followedChain.ts';
import { type Log, describeError } from '../base/log.ts';
import type { ConfirmedHeights, FinalityTag } from '../store/blocks/contract.ts';
import type { ChainReport, Lease } from '../store/leases/contract.ts';
import type { Store } from '../store/store.ts';

type OwnChain = Pick<FollowedChain, 'id' | 'leaseState' | 'report'>;

export interface ChainReports {
  /**
   * Returns the reports of this process's chains in order, then the reports of other chains that a
   * process reads or has read in the last 24 hours.
   */
  list(): ChainReport[];
  find(chain: string): ChainReport | undefined;
  /** Returns the numbers of the newest confirmed blocks of a chain. */
  confirmedHeights(chain: string): ConfirmedHeights;
  /**
   * Returns whether any process reads the chain or has read it within the last minute, or this
   * process waits to take it over.
   */
  isRead(chain: string): boolean;
  /** Reads the reports from the ledger now, and then periodically. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const CHECK_MS = 1_000;
/**
 * Time for which a chain still counts as read after its reader stopped, because that process may be
 * restarting.
 */
const RESTART_MS = 60_000;
/** Time after which the report of a chain that no process reads is dropped. */
const FORGOTTEN_MS = 24 * 3_600_000;

export function createChainReports({
  store,
  log,
  own,
}: {
  store: Pick<Store, 'listLeases' | 'signals'>;
  log: Log;
  /** The chains that are configured for this process. */
  own: {
    readonly all: readonly OwnChain[];
    get(chain: string): OwnChain | undefined;
  };
}): ChainReports {
  /** Leases of chains and tasks by name. */
  let leases = new Map<string, Lease>();
  let stopping = false;
  const waker = createWaker();
  let looking: Promise<void> | undefined;
  let forget = (): void => {};

  const look = async (): Promise<void> => {
    try {
      leases = new Map((await store.listLeases()).map((lease) => [lease.name, lease]));
    } catch (error) {
      log.warn('failed to read the chain reports, retrying', { error: describeError(error) });
    }
  };

  const reportOf = (
    given: OwnChain | undefined,
    lease: Lease | undefined,
  ): ChainReport | undefined => {
    const other = lease && toReport(lease);
    if (given === undefined) return other;
    // A candidate itself reports a chain that no process reads, because it will soon take over.
    const isOther =
      given.leaseState === 'candidate' ? lease?.freeForMs === 0 : given.leaseState === 'none';
    return isOther && other !== undefined ? other : given.report();
  };

  const find = (chain: string): ChainReport | undefined =>
    reportOf(own.get(chain), leases.get(chain));

  return {
    list() {
      const others = new Map(leases);
      const first = own.all.flatMap((each) => {
        const lease = others.get(each.id);
        others.delete(each.id);
        return reportOf(each, lease) ?? [];
      });
      return [...first, ...[...others.values()].flatMap((lease) => toReport(lease) ?? [])];
    },
    find,
    confirmedHeights: (chain) => heightsOf(find(chain)),
    isRead(chain) {
      const { leaseState = 'none' } = own.get(chain) ?? {};
      const { freeForMs = Infinity } = leases.get(chain) ?? {};
      return leaseState !== 'none' || freeForMs < RESTART_MS;
    },
    async start() {
      forget = store.signals.on('leases', waker.wake);
      await look();
      looking = (async () => {
        while (!stopping) {
          await waker.sleep(CHECK_MS);
          await look();
        }
      })();
    },
    async stop() {
      stopping = true;
      forget();
      waker.wake();
      await looking;
    },
  };
}

/** Returns the numbers of the newest confirmed blocks of a chain, as it reports them. */
export function heightsOf({
  checkpoint,
  confirmedUpTo,
  safe,
  finalized,
}: Partial<
  Pick<ChainReport, 'checkpoint' | 'confirmedUpTo' | FinalityTag>
> = {}): ConfirmedHeights {
  const tip = checkpoint ?? -1;
  return {
    chain: confirmedUpTo ?? -1,
    latest: tip,
    depth: tip,
    // The nodes may be ahead of this service.
    safe: Math.min(tip, safe ?? -1),
    finalized: Math.min(tip, finalized ?? -1),
  };
}

function toReport({ holder, freeForMs, report }: Lease): ChainReport | undefined {
  if (report === null || freeForMs > FORGOTTEN_MS) return undefined;
  if (freeForMs === 0) return report;
  const seconds = Math.ceil(freeForMs / 1000);
  const message = `no process reads this chain; the last reader, ${holder}, stopped ${seconds} s ago`;
  return { ...report, state: 'down', message, progress: null };
}
