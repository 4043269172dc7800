/**
 * A chain in the ledger, with its newest blocks in memory. Writes need the chain's lease, and throw
 * a `RetryableError` with code `lost_lease` once another process holds it.
 */
import { CallerError, RetryableError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type {
  BlockCommit,
  BlockHeader,
  BlockRef,
  Checkpoint,
  CommitOutcome,
  ConfirmedHeights,
} from '../store/blocks/contract.ts';
import type { Child } from '../store/children/contract.ts';
import type { Store } from '../store/store.ts';
import { type ConfirmationRule, MAX_WINDOW_BLOCKS } from './confirming.ts';
import type { Finality } from './finality.ts';

export interface LocalChain {
  /** Returns the recent committed blocks, newest first, which are kept to detect reorgs. */
  window(): readonly BlockHeader[];
  /** Returns the last committed block; undefined before the chain is connected. */
  tip(): BlockHeader | undefined;
  /** Returns the numbers of the newest confirmed blocks; undefined before the chain is connected. */
  confirmedHeights(): ConfirmedHeights | undefined;
  /**
   * Returns the number of the newest confirmed block that no reorg is expected to remove; null if
   * there is none.
   */
  settledUpTo(): number | null;
  /** Returns why the chain restarted in the last hour; empty if it did not. */
  note(): string;
  readCheckpoint(): Promise<Checkpoint | undefined>;
  /** Reads the window from the ledger again. */
  load(): Promise<void>;
  /** Restarts the chain after this block; for `holeFrom` and `why` see `Store.startChain`. */
  startAt(
    block: BlockHeader,
    genesisHash: string,
    gap?: { holeFrom?: number; why?: string },
  ): Promise<void>;
  /** Removes the newest `removed` blocks: the blocks above the common ancestor. */
  rewind(ancestor: BlockRef, removed: number): Promise<void>;
  /**
   * Commits the block after the tip, or a later block if `after` is the tip. If the block does not
   * follow the stored tip, commits nothing and reads the window again. Returns `stale-rules` if the
   * block must be matched again.
   */
  append(
    block: BlockHeader,
    commit: Pick<
      BlockCommit,
      | 'after'
      | 'searched'
      | 'ruleRevision'
      | 'matches'
      | 'children'
      | 'readsState'
      | 'unverified'
      | 'head'
    >,
  ): Promise<StaleRules | 'settled'>;
  /**
   * Records why the chain halted, for the operator. A failed write is only logged; the next failure
   * of the chain repeats the write.
   */
  recordHalt(why: string): Promise<void>;
}

/** The children of the chain's factories in memory, which follow the ledger. */
export interface LoadedChildren {
  change(change: { added?: readonly Child[]; removed?: readonly Child[] }): void;
  forget(): void;
}

export interface LedgerListener {
  onBlock(): void;
}

export type StaleRules = Extract<CommitOutcome, { outcome: 'stale-rules' }>;

/** Time for which a restart is part of the chain's report. */
const NOTE_MS = 3_600_000;

const lostLease = (): RetryableError =>
  new RetryableError('lost_lease', 'another process has taken over the chain');

/** Creates the error for a chain that can't continue until the operator intervenes. */
export const haltError = (why: string): CallerError => new CallerError('chain_halted', why);

/** @param epoch epoch of the chain's lease */
export function createLocalChain(
  { chain, epoch }: { chain: string; epoch: number },
  {
    store,
    confirming,
    finality,
    children,
    listener,
    log,
  }: {
    store: Store;
    confirming: ConfirmationRule;
    finality: Pick<Finality, 'rewind'>;
    children: LoadedChildren;
    listener: LedgerListener;
    log: Log;
  },
): LocalChain {
  let window: BlockHeader[] = [];
  let restart = { why: '', at: Number.NEGATIVE_INFINITY };
  /** True if the ledger may contain a halt, for example one that an earlier process recorded. */
  let mayBeHalted = true;

  const load = async (): Promise<void> => {
    window = await store.readWindow(chain, MAX_WINDOW_BLOCKS);
  };

  /** Makes a write that may change the children of factories. */
  const write = async <T>(outcome: Promise<T>): Promise<T> => {
    try {
      return await outcome;
    } catch (error) {
      // The ledger may have made the change.
      children.forget();
      throw error;
    }
  };

  return {
    window: () => window,
    tip: () => window[0],
    confirmedHeights() {
      const [tip] = window;
      return tip && confirming.heights(tip, window);
    },
    settledUpTo() {
      const [tip] = window;
      if (tip === undefined) return null;
      const below = tip.number - confirming.openBlocks(tip.number);
      const upTo = Math.min(below, confirming.heights(tip, window).chain);
      return upTo < 0 ? null : upTo;
    },
    note: () => (performance.now() - restart.at < NOTE_MS ? restart.why : ''),
    readCheckpoint: () => store.readCheckpoint(chain),
    load,
    async startAt(block, genesisHash, { holeFrom, why = '' } = {}) {
      const start = { chain, epoch, block, genesisHash, holeFrom, why };
      if (!(await write(store.startChain(start)))) throw lostLease();
      children.forget();
      finality.rewind(block.number);
      restart = { why, at: performance.now() };
      window = [block];
    },
    async rewind(ancestor, removed) {
      const left = await write(store.rewindChain({ chain, epoch, ancestor }));
      if (left === undefined) throw lostLease();
      children.change({ removed: left });
      finality.rewind(ancestor.number);
      window = window.slice(removed);
    },
    async append(block, commit) {
      const isLinked = commit.after === undefined || commit.after.hash === block.parentHash;
      const below = isLinked ? window : [];
      const windowBlocks = confirming.windowBlocks(block, below);
      const { chain: confirmUpTo, safe, finalized } = confirming.heights(block, window);
      const result = await write(
        store.commitBlock({
          ...commit,
          chain,
          epoch,
          block,
          windowBlocks,
          confirmUpTo,
          tagged: { safe, finalized },
        }),
      );
      if (result.outcome === 'stale-rules') return result;
      if (result.outcome === 'lost-lease') throw lostLease();
      if (result.outcome === 'not-next') {
        children.forget();
        await load();
        return 'settled';
      }
      children.change({ added: result.children });
      window = [block].concat(below.slice(0, windowBlocks - 1));
      if (mayBeHalted) {
        await store.endHalt({ chain, epoch });
        mayBeHalted = false;
      }
      listener.onBlock();
      return 'settled';
    },
    async recordHalt(why) {
      mayBeHalted = true;
      await store.recordHalt({ chain, epoch, why }).catch((error: unknown) => {
        log.warn('failed to record that the chain is halted', { chain, error: String(error) });
      });
    },
  };
}
