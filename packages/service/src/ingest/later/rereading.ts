/**
 * Reads the uncertain and held blocks of one chain again, one at a time, when their next reading is
 * due. Delivers the records that appeared, removes matches whose records vanished, and releases what
 * two witnesses returned.
 */
import { type Log, describeError } from '../../base/log.ts';
import { createWaker } from '../../base/waker.ts';
import {
  type BlockHeader,
  type ConfirmedHeights,
  isWitnessed,
} from '../../store/blocks/contract.ts';
import type { Store } from '../../store/store.ts';
import type { UncertainBlock } from '../../store/uncertain/contract.ts';
import {
  type ChainSource,
  type LaterReadings,
  type MaybeUnverified,
  SourceError,
  isOfKind,
} from '../source.ts';
import { type Matchers, createComparing } from './compare.ts';

export interface Rereading {
  start(): void;
  /** Stops after the current reading. */
  stop(): Promise<void>;
}

const POLL_MS = 5_000;
/** Time until the next try if a node failed. */
const POSTPONED_MS = 60_000;
/**
 * Time for which a reading is repeated while a node is away or has pruned the block. After that, it
 * counts.
 */
const PATIENCE_MS = 86_400_000;

export function createRereading<Block extends BlockHeader & MaybeUnverified>({
  chain,
  epoch,
  source,
  later,
  store,
  matcher,
  openMatcher,
  confirmedHeights,
  log,
}: Matchers<Block> & {
  chain: string;
  /** Epoch of the chain's lease. */
  epoch: number;
  source: Pick<ChainSource<Block>, 'readHeader'>;
  later: LaterReadings<Block>;
  store: Store;
  /** Returns the numbers of the newest confirmed blocks; undefined while unknown. */
  confirmedHeights(): ConfirmedHeights | undefined;
  log: Log;
}): Rereading {
  const { afterMs } = later;
  const [firstMs = 0] = afterMs;
  const postponedMs = Math.min(POSTPONED_MS, firstMs);
  const stopping = new AbortController();
  const waker = createWaker();
  stopping.signal.addEventListener('abort', waker.wake);
  let running: Promise<void> | undefined;
  const compare = createComparing({ records: later.records, store, matcher, openMatcher });

  /** Returns whether a reading that a node could not answer is repeated. */
  const isPatient = ({ step, ageMs }: UncertainBlock): boolean =>
    ageMs - afterMs[step]! < PATIENCE_MS;

  /** Returns when to read the block again after this reading; undefined if this was the last. */
  const nextInMs = ({ step, ageMs }: UncertainBlock): number | undefined => {
    const next = afterMs[step + 1];
    // After an outage, several readings may be due at once.
    return next && Math.max(next - ageMs, firstMs);
  };

  const commit = async (
    uncertain: UncertainBlock,
    block: Block,
    isComplete: boolean,
  ): Promise<void> => {
    const { header, step } = uncertain;
    const { read: records, appeared, vanished, ...changes } = await compare(uncertain, block);
    const { unverified } = block;
    const isCertain = unverified?.isUncertain !== true;
    // A held block waits for a second witness, even if no check fails.
    const isDone =
      isCertain && (!uncertain.isHeld || unverified === undefined || isWitnessed(unverified));
    const isChanged = appeared > 0 || vanished > 0;
    if (!isCertain && !isChanged && !isComplete && isPatient(uncertain)) {
      await store.postponeReading(uncertain, postponedMs);
      return;
    }
    const dueInMs = isDone ? undefined : nextInMs(uncertain);
    const committed = await matcher.addLateChildren(chain, changes.children, (matchedUpTo) =>
      store.commitReading({
        block: uncertain,
        epoch,
        ...changes,
        matchedUpTo,
        unverified,
        heights: confirmedHeights(),
        next: dueInMs === undefined ? undefined : { records, dueInMs },
      }),
    );
    // The block has left the chain, or another process reads it now.
    if (committed === undefined) return;
    if (!isChanged && !isDone && dueInMs !== undefined) return;
    const state = isCertain ? 'held' : 'uncertain';
    log[isChanged ? 'warn' : 'info']('block read again', {
      chain,
      block: header.number,
      reading: step + 1,
      result: isDone ? 'verified' : dueInMs === undefined ? `still ${state}` : state,
      appeared,
      vanished,
      matches: changes.matches.length,
      removed: changes.removed.length,
    });
  };

  /** Reads the block that is due; returns false if there is none. */
  const readNext = async (): Promise<boolean> => {
    const uncertain = await store.nextUncertain(chain);
    if (uncertain === undefined) return false;
    const { header, needs } = uncertain;
    try {
      const { block, isComplete } = await later.read(header, needs);
      // Nodes that follow another branch may lack the parts of this block.
      if ((await source.readHeader(header.number))?.hash !== header.hash) {
        throw new SourceError('disagreement', `another block is at height ${header.number}`);
      }
      await commit(uncertain, block, isComplete);
    } catch (error) {
      if (!(error instanceof SourceError)) {
        log.error('reading an uncertain block again failed', {
          chain,
          block: header.number,
          error: describeError(error),
        });
      }
      await giveUpOrPostpone(uncertain, error);
    }
    return true;
  };

  const giveUpOrPostpone = async (uncertain: UncertainBlock, error: unknown): Promise<void> => {
    const isGone = isOfKind(error, 'missing', 'pruned') && !isPatient(uncertain);
    if (!isGone) return store.postponeReading(uncertain, postponedMs);
    log.warn('no node has an uncertain block anymore', {
      chain,
      block: uncertain.header.number,
      error: error.message,
    });
    await store.endReadings(uncertain);
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const isBusy = await readNext().catch((error: unknown) => {
        log.error('failed to read uncertain blocks, retrying', { chain, error: String(error) });
        return false;
      });
      if (!isBusy) await waker.sleep(Math.min(POLL_MS, firstMs));
    }
  };

  return {
    start() {
      if (afterMs.length > 0) running = run();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
