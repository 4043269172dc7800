/**
 * One chain as the ledger has it. Its newest blocks are kept in memory, in step with every write; each
 * write is made under the chain's lease, and throws a `RetryableError`, code `lost_lease`, once another process has it.
 */
import { CallerError, RetryableError } from '../base/errors.ts';
import type { DeliverySummary } from '@sluice/kit/contract';
import type { Log } from '../base/log.ts';
import type {
  BlockCommit,
  BlockHeader,
  BlockRef,
  Checkpoint,
  CommitOutcome,
} from '../store/blocks/contract.ts';
import type { Store } from '../store/store.ts';
import type { Confirming } from './confirming.ts';

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
