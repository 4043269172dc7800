/**
 * One chain as the ledger has it. Its newest blocks are kept in memory, in step with every write; each
 * write is made under the chain's lease, and throws a `RetryableError`, code `lost_lease`, once another process has it.
 */
import type { DeliverySummary } from '@sluice/kit/contract';
import { CallerError, RetryableError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type {
  BlockCommit,
  BlockHeader,
  BlockRef,
  Checkpoint,
  CommitOutcome,
} from '../store/blocks/contract.ts';
import type { Store } from '../store/store.ts';
import { type ChainSource, SourceError } from './source.ts';

export interface LocalChain {
  /** The stored window of hashes, newest first. */
  window(): readonly BlockHeader[];
  /** The block committed last; undefined before the chain is connected. */
  tip(): BlockHeader | undefined;
  /** Number of the newest confirmed block. */
  confirmedUpTo(): number | null;
  readCheckpoint(): Promise<Checkpoint | undefined>;
  /** Reads the window anew, as of a block of this number. */
  load(tip: number): Promise<void>;
  /** The chain goes on after this block; `holeFrom` and `why` as in `Store.startChain`. */
  startAt(
    block: BlockHeader,
    genesisHash: string,
    gap?: { holeFrom?: number; why?: string },
  ): Promise<void>;
  /** Takes so many blocks back. */
  rewind(ancestor: BlockRef, removed: number): Promise<void>;
  /**
   * Commits a block after the tip, or beyond it where `after` is the tip. Answers with `stale-rules` when
   * it must be matched again; a block that is not next is left out, and the window read anew.
   */
  append(
    block: BlockHeader,
    commit: Pick<BlockCommit, 'after' | 'ruleRevision' | 'matches' | 'unverified' | 'head'>,
  ): Promise<StaleRules | 'settled'>;
  /** For people to look up later; a ledger that cannot take it now is told at the next try. */
  noteHalt(why: string): Promise<void>;
}

export interface LedgerListener {
  onDeliveries(deliveries: DeliverySummary[]): void;
  onBlock(): void;
}

export type StaleRules = Extract<CommitOutcome, { outcome: 'stale-rules' }>;

/** Another process has taken the chain. */
const lostLease = (): RetryableError =>
  new RetryableError('lost_lease', 'another process reads the chain');

/** The chain cannot go on by itself: an operator must decide. */
export const haltError = (why: string): CallerError => new CallerError('chain_halted', why);

/** @param epoch of the chain's lease */
export function createLocalChain(
  { chain, epoch }: { chain: string; epoch: number },
  {
    store,
    confirming,
    listener,
    log,
  }: { store: Store; confirming: Confirming; listener: LedgerListener; log: Log },
): LocalChain {
  let window: BlockHeader[] = [];
  /** What a process before this one said of a halt may stand, too. */
  let mayBeHalted = true;

  const load = async (tip: number): Promise<void> => {
    window = await store.readWindow(chain, confirming.windowBlocks(tip));
  };

  return {
    window: () => window,
    tip: () => window[0],
    confirmedUpTo() {
      const [tip] = window;
      const upTo = tip === undefined ? -1 : confirming.upTo(tip, window);
      return upTo < 0 ? null : upTo;
    },
    readCheckpoint: () => store.readCheckpoint(chain),
    load,
    async startAt(block, genesisHash, { holeFrom, why } = {}) {
      const started = await store.startChain({ chain, epoch, block, genesisHash, holeFrom, why });
      listener.onDeliveries(asHolder(started));
      window = [block];
    },
    async rewind(ancestor, removed) {
      const cancelled = asHolder(await store.rewindChain({ chain, epoch, ancestor }));
      window = window.slice(removed);
      listener.onDeliveries(cancelled);
    },
    async append(block, commit) {
      const windowBlocks = confirming.windowBlocks(block.number);
      const result = await store.commitBlock({
        ...commit,
        ...{ chain, epoch, block, windowBlocks },
        confirmUpTo: confirming.upTo(block, window),
      });
      if (result.outcome === 'stale-rules') return result;
      if (result.outcome === 'lost-lease') throw lostLease();
      if (result.outcome === 'not-next') {
        await load(block.number);
        return 'settled';
      }
      window = [block, ...(commit.after === undefined ? window : [])].slice(0, windowBlocks);
      if (mayBeHalted) {
        await store.endHalt({ chain, epoch });
        mayBeHalted = false;
      }
      listener.onBlock();
      if (result.deliveries.length > 0) listener.onDeliveries(result.deliveries);
      return 'settled';
    },
    async noteHalt(why) {
      mayBeHalted = true;
      await store.noteHalt({ chain, epoch, why }).catch((error: unknown) => {
        log.warn('cannot note that the chain is halted', { chain, error: String(error) });
      });
    },
  };
}

/** What a write to a chain answers while the chain is ours. */
function asHolder<T>(answer: T | undefined): T {
  if (answer === undefined) throw lostLease();
  return answer;
}

export interface Confirming {
  /** Asks the chain, where it decides; no oftener than pays. Answers whether more is final by now. */
  refresh(): Promise<boolean>;
  /**
   * Last block whose matches are confirmed once `tip` is committed; below 0 for none.
   *
   * @param window our blocks, newest first and without holes
   */
  upTo(tip: BlockRef, window: readonly BlockRef[]): number;
  /** Blocks to remember, so that none that can still go is forgotten. */
  windowBlocks(tip: number): number;
  /** What is wrong, for people; empty when nothing is. */
  note(): string;
}

const MIN_WINDOW_BLOCKS = 256;
/** Finality may stop for days; a window of this many hashes is what we hold then. */
const MAX_WINDOW_BLOCKS = 16_384;
const ASK_AGAIN_MS = 2_000;

const NOT_KNOWN =
  'no node of this chain names a finalized block, so nothing is confirmed: give --chain …,confirmations=N instead, or a node that does';

/** From which block on matches still wait: by depth, or by what the chain itself calls final. */
export function createConfirming(
  confirmations: number | 'finalized',
  source: Pick<ChainSource<unknown>, 'readFinalized'>,
): Confirming {
  if (confirmations !== 'finalized') {
    return {
      refresh: async () => false,
      upTo: (tip) => tip.number - confirmations,
      windowBlocks: () => Math.max(MIN_WINDOW_BLOCKS, 2 * confirmations),
      note: () => '',
    };
  }

  let finalized: BlockRef | undefined;
  let isKnown = true;
  let askAt = 0;

  return {
    async refresh() {
      if (performance.now() < askAt) return false;
      askAt = performance.now() + ASK_AGAIN_MS;
      let block: BlockRef | undefined;
      try {
        block = await source.readFinalized();
      } catch (error) {
        // A node that fails to answer shows in everything else; what was final is so still.
        if (error instanceof SourceError) return false;
        throw error;
      }
      isKnown = block !== undefined;
      // A node that lags speaks of an older one.
      if (block === undefined || block.number <= (finalized?.number ?? -1)) return false;
      finalized = block;
      return true;
    },
    upTo(tip, window) {
      if (finalized === undefined) return -1;
      if (finalized.number > tip.number) return tip.number;
      const ours =
        finalized.number === tip.number ? tip : window[(window[0]?.number ?? 0) - finalized.number];
      // Another block is final at that height: ours is about to be undone.
      if (ours !== undefined && ours.hash !== finalized.hash) return -1;
      return finalized.number;
    },
    windowBlocks(tip) {
      const open = finalized === undefined ? MAX_WINDOW_BLOCKS : tip - finalized.number + 64;
      return Math.min(MAX_WINDOW_BLOCKS, Math.max(MIN_WINDOW_BLOCKS, open));
    },
    note: () => (isKnown ? '' : NOT_KNOWN),
  };
}
