/** Decides which chains this process reads, together with the other readers of the ledger. */
import { createWaker } from '../base/waker.ts';
import { type Log, describeError } from '../base/log.ts';
import { STAND_BY_MS } from '../operate/duty.ts';
import { LEASE_MS, RENEW_MS } from '../operate/holder.ts';
import type { Store } from '../store/store.ts';
import { findShare } from './assignment.ts';

export interface ChainSharing {
  /** Returns whether this process should keep reading the chain, or take it. */
  isOwn(chain: string): boolean;
  start(): void;
  /** Checks now, because the chains that this process can read may have changed. */
  look(): void;
  /**
   * Removes this process from the readers, so that other readers take its chains as they become
   * free.
   */
  stop(): Promise<void>;
}

/** @param id the id of this process as a holder of leases */
export function createChainSharing({
  id,
  store,
  log,
  listReadable,
  onChange,
}: {
  id: string;
  store: Pick<Store, 'joinReaders' | 'leaveReaders' | 'readSharing' | 'signals'>;
  log: Log;
  listReadable(): readonly string[];
  /** Called when `isOwn` may have changed. */
  onChange(): void;
}): ChainSharing {
  let own: ReadonlySet<string> = new Set();
  let joined = '';
  let joinAgainAt = 0;
  /**
   * Whether this process has been a reader for longer than `RENEW_MS`. If the ledger then shows a
   * recent join, this process was interrupted.
   */
  let isEstablished = false;
  let logged = '';
  let stopping = false;
  const waker = createWaker();
  let looking: Promise<void> | undefined;
  let forget = (): void => {};

  const join = async (chains: readonly string[]): Promise<void> => {
    const now = performance.now();
    if (chains.join() === joined && now < joinAgainAt) return;
    await store.joinReaders({ id, chains, forMs: LEASE_MS });
    joined = chains.join();
    joinAgainAt = now + RENEW_MS;
  };

  const look = async (): Promise<void> => {
    const chains = listReadable();
    if (chains.length === 0) return;
    await join(chains);
    const sharing = await store.readSharing();
    const { readers, holders } = sharing;
    const self = readers.find((reader) => reader.id === id);
    if (self === undefined) return;
    // After an outage of the ledger, other readers also need time to join again, so this process
    // takes no more chains yet.
    const isReturning = isEstablished && self.joinedForMs < RENEW_MS + STAND_BY_MS;
    isEstablished ||= self.joinedForMs > RENEW_MS;
    if (isReturning) {
      own = new Set([...own].filter((chain) => (holders.get(chain) ?? id) === id));
      return;
    }
    const { own: next, handOver } = findShare(id, sharing);
    if (handOver !== undefined && own.has(handOver)) {
      log.info('handing over a chain', { chain: handOver });
    }
    // This process is about to take these chains, unless another reader takes them first.
    const taking = [...own].filter((chain) => !holders.has(chain));
    own = new Set([...next, ...taking]);
    const shown = `${readers.length} ${own.size}`;
    if (shown !== logged) log.info('chains shared', { readers: readers.length, own: own.size });
    logged = shown;
  };

  const run = async (): Promise<void> => {
    while (!stopping) {
      try {
        await look();
        onChange();
      } catch (error) {
        log.warn('failed to share the chains, retrying', { error: describeError(error) });
      }
      await waker.sleep(STAND_BY_MS);
    }
  };

  return {
    isOwn: (chain) => own.has(chain),
    start() {
      forget = store.signals.on('leases', waker.wake);
      looking = run();
    },
    look: waker.wake,
    async stop() {
      stopping = true;
      forget();
      waker.wake();
      await looking;
      if (looking === undefined || joined === '') return;
      await store.leaveReaders(id).catch((error: unknown) => {
        log.warn('failed to remove this process from the readers; its entry will expire', {
          error: describeError(error),
        });
      });
    },
  };
}
