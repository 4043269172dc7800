/**
 * Reads values on chain in the state of each committed block, in the order of the blocks. The ledger
 * has the blocks that are still to be read, so that reading state never delays a block.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type Log, describeError } from '../../base/log.ts';
import { createWaker } from '../../base/waker.ts';
import type { BlockHeader, ConfirmedHeights, NewMatch } from '../../store/blocks/contract.ts';
import type { Store } from '../../store/store.ts';
import type { PendingState, ReadRef, ReadResult } from '../../store/values/contract.ts';
import { type KnownReads, createKnownReads } from './knownReads.ts';

/** The values of streams in the state of a block. */
export interface ReadValues<Sent> {
  results: readonly ReadResult[];
  /** Values that their streams no longer read. */
  forgotten: readonly ReadRef[];
  /** Streams with values that no node has. */
  lacking: readonly string[];
  /** The values whose condition holds, by stream. */
  sent: ReadonlyMap<string, readonly Sent[]>;
  /** Why values of streams are not read at all, by stream. */
  problems: ReadonlyMap<string, string>;
}

/**
 * Reads the values of these streams in the state of a block. Returns undefined if the nodes refuse
 * some of them, unless this is the last try or the nodes no longer keep the state.
 *
 * @throws RetryableError if no node could be queried
 */
export type ReadState<Stream, Sent> = (
  asked: {
    streams: readonly Stream[];
    pending: PendingState;
    /** The newest known values of the chain. */
    known: Pick<KnownReads, 'find' | 'keysOf'>;
  },
  isLastTry: boolean,
) => Promise<ReadValues<Sent> | undefined>;

/** The part of the matcher that reading values needs. */
export interface ValueMatcher<Stream, Sent> {
  refresh(atLeast?: 'now'): Promise<number>;
  /** Returns the streams of a chain that read values. */
  streams(chain: string): readonly Stream[];
  toMatches(
    chain: string,
    block: BlockHeader,
    sent: ReadonlyMap<string, readonly Sent[]>,
  ): NewMatch[];
}

export interface ValueReading {
  start(): void;
  /** Reads the state of a block that was committed. */
  wake(): void;
  /** Returns why values of streams can't be read, by stream. */
  failing(): Readonly<Record<string, string>>;
  /** Stops after the current block. */
  stop(): Promise<void>;
}

const POLL_MS = 5_000;
const RETRY_MS = 250;
const RETRY_MAX_MS = 10_000;
/** Number of tries after which a state that the nodes refuse is a hole. */
const TRIES = 6;
/** Number of pending blocks above which the state of the oldest one is not read. */
const MAX_PENDING = 10_000;
/** Maximum number of streams whose errors are reported. */
const MAX_REPORTED = 100;

export function createValueReading<Stream extends { id: string }, Sent>({
  chain,
  epoch,
  store,
  matcher,
  readState,
  confirmedHeights,
  retryMs = RETRY_MS,
  log,
}: {
  chain: string;
  /** Epoch of the chain's lease. */
  epoch: number;
  store: Pick<Store, 'nextState' | 'listKnownReads' | 'listCovering' | 'commitState'>;
  matcher: ValueMatcher<Stream, Sent>;
  readState: ReadState<Stream, Sent>;
  /** Returns the numbers of the newest confirmed blocks; undefined while unknown. */
  confirmedHeights(): ConfirmedHeights | undefined;
  /** Milliseconds before the first retry; doubled for each further retry. Default: 250. */
  retryMs?: number | undefined;
  log: Log;
}): ValueReading {
  const stopping = new AbortController();
  const waker = createWaker();
  stopping.signal.addEventListener('abort', waker.wake);
  let running: Promise<void> | undefined;
  let failing: Record<string, string> = {};
  /** Known values after the last block that was read; undefined if the ledger may differ. */
  let kept: { hash: string; revision: number; known: KnownReads } | undefined;
  /** Tries of the block that is pending now. */
  let tries = { hash: '', count: 0 };

  const countTry = ({ hash }: BlockHeader): number => {
    tries = { hash, count: tries.hash === hash ? tries.count + 1 : 1 };
    return tries.count;
  };

  const reportFailing = (known: KnownReads, problems: ReadValues<Sent>['problems']): void => {
    const found: Record<string, string> = Object.fromEntries([...problems].slice(0, MAX_REPORTED));
    for (const { streamId, newest } of known.all()) {
      if (newest.error === null || Object.keys(found).length === MAX_REPORTED) continue;
      found[streamId] ??= newest.error;
    }
    failing = found;
  };

  /**
   * Returns what the ledger has about the values before a block: from memory, if the block follows
   * the last one that was read, and no stream has changed since.
   */
  const readKnown = async ({ parentHash }: BlockHeader, revision: number): Promise<KnownReads> =>
    kept?.hash === parentHash && kept.revision === revision
      ? kept.known
      : createKnownReads(await store.listKnownReads(chain));

  const pause = (ms: number): Promise<void> => wait(ms, undefined, stopping).catch(() => {});

  /** Reads the state of the next block; waits if there is none, or if the nodes refuse it. */
  const readNext = async (): Promise<void> => {
    const pending = await store.nextState(chain);
    if (pending === undefined) return waker.sleep(POLL_MS);
    const revision = await matcher.refresh();
    const covering = new Set(await store.listCovering(chain, pending.block.number));
    const streams = matcher.streams(chain).filter(({ id }) => covering.has(id));
    const known = await readKnown(pending.block, revision);
    kept = undefined;
    const count = countTry(pending.block);
    const isLastTry = count >= TRIES;
    const values: ReadValues<Sent> | undefined =
      pending.pending > MAX_PENDING
        ? {
            results: [],
            forgotten: [],
            lacking: streams.map(({ id }) => id),
            sent: new Map(),
            problems: new Map(),
          }
        : await readState({ streams, pending, known }, isLastTry);
    if (values === undefined) {
      kept = { hash: pending.block.parentHash, revision, known };
      return pause(Math.min(retryMs * 2 ** count, RETRY_MAX_MS));
    }
    const { results, forgotten, lacking, sent, problems } = values;
    if (lacking.length > 0) {
      log.warn('no node has the state of a block', {
        chain,
        block: pending.block.number,
        streams: lacking.length,
      });
    }
    const isRead = await store.commitState({
      chain,
      epoch,
      state: pending,
      results,
      forgotten,
      lacking,
      matches: sent.size === 0 ? [] : matcher.toMatches(chain, pending.block, sent),
      heights: confirmedHeights(),
    });
    // The block has left the chain, or another process reads the chain now.
    if (!isRead) return pause(retryMs);
    known.add(pending.block, results, forgotten);
    kept = { hash: pending.block.hash, revision, known };
    reportFailing(known, problems);
  };

  const run = async (): Promise<void> => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        await readNext();
        failures = 0;
      } catch (error) {
        log.warn('failed to read the state of a block, retrying', {
          chain,
          error: describeError(error),
        });
        await pause(Math.min(retryMs * 2 ** failures++, RETRY_MAX_MS));
      }
    }
  };

  return {
    start() {
      running = run();
    },
    wake: waker.wake,
    failing: () => failing,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
