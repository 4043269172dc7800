/**
 * Follows one chain from the stored checkpoint: reads the head, reconciles, fetches, matches and
 * commits. After an error, the loop reports the error and retries, unless the chain's lease was
 * lost.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createWaker } from '../base/waker.ts';
import { type Log, describeError } from '../base/log.ts';
import { NO_TRACING, type Tracing } from '../base/tracing.ts';
import type { BlockHeader, ConfirmedHeights } from '../store/blocks/contract.ts';
import type { ChainReport } from '../store/leases/contract.ts';
import type { Store } from '../store/store.ts';
import { createCatchUp } from './catchUp.ts';
import { type Matcher, createBlockCommitter } from './commit.ts';
import { type LedgerListener, createLocalChain } from './localChain.ts';
import { createConfirmationRule } from './confirming.ts';
import { type ForkOptions, connect } from './connect.ts';
import { createFinality } from './finality.ts';
import { ServiceError, hasCode } from '../base/errors.ts';
import { isUnavailable } from '../store/engine/unavailable.ts';
import { type ChainSource, type MaybeUnverified, SourceError, isOfKind } from './source.ts';
import { type ReportOptions, createStatus, isBehind, reportUnread } from './status/status.ts';
import { createFollower } from './follow.ts';

export interface IngestOptions extends ReportOptions, ForkOptions {}

export interface IngestListener extends LedgerListener {
  /** Called with the number of removed blocks after a reorg. */
  onReorg(depth: number): void;
  onReport(report: ChainReport): void;
  /** Called when another process has taken over the chain, which ends the loop. */
  onLostLease(): void;
}

export interface Ingest {
  report(): ChainReport;
  /** Returns the numbers of the newest confirmed blocks; undefined before the chain is connected. */
  confirmedHeights(): ConfirmedHeights | undefined;
  /** Returns the number of the newest confirmed block below the window; null if there is none. */
  settledUpTo(): number | null;
  start(): void;
  /** Stops between two commits, and resolves when the loop has ended. */
  stop(): Promise<void>;
}

/** Maximum number of blocks that are followed before the head is read again. */
const BLOCKS_PER_HEAD = 32;
/**
 * Maximum wait for a hint of a new head, in case hints were lost with a socket. The source's own
 * polls are more frequent.
 */
const HINT_TIMEOUT_MS = 60_000;
const RETRY_MIN_MS = 250;
const RETRY_MAX_MS = 5_000;

/** Describes why a chain is down. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return !(error instanceof ServiceError) && isUnavailable(error)
    ? `the ledger is full, busy or unreachable: ${describeError(error)}`
    : error.message;
}

/**
 * Kinds of errors that usually resolve on their own. The chain is reported as down only after
 * `PASSING_FAILURES` failures in a row.
 */
const PASSING: readonly string[] = ['missing', 'rate-limited', 'disagreement'];
const PASSING_FAILURES = 4;

/** @param options.epoch epoch of the chain's lease, which every write requires */
export function createIngest<Block extends BlockHeader & MaybeUnverified>(
  options: IngestOptions & { epoch: number },
  {
    source,
    store,
    matcher,
    listener,
    log,
    tracing = NO_TRACING,
    refuseBlocks = () => undefined,
  }: {
    source: ChainSource<Block>;
    store: Store;
    matcher: Matcher<Block>;
    listener: IngestListener;
    log: Log;
    tracing?: Tracing | undefined;
    /**
     * Returns a message that explains why no block may be committed now; undefined if commits are
     * allowed.
     */
    refuseBlocks?: () => string | undefined;
  },
): Ingest {
  const { chain } = options;
  const waker = createWaker();
  const stopping = new AbortController();
  stopping.signal.addEventListener('abort', waker.wake);
  let running: Promise<void> | undefined;

  const { confirmations } = reportUnread(options, source);
  const finality = createFinality(source, async () => {
    const tags = await store.listAwaitedTags(chain);
    return confirmations === 'finalized' ? [...tags, 'finalized'] : tags;
  });
  const confirming = createConfirmationRule(confirmations, finality, options.isFinal);
  const local = createLocalChain(options, {
    store,
    confirming,
    finality,
    children: {
      change: (change) => matcher.changeChildren(chain, change),
      forget: () => matcher.forgetChildren(chain),
    },
    listener,
    log,
  });
  const status = createStatus(options, {
    source,
    local,
    confirming,
    finality,
    log,
    needsTraces: () => matcher.needs(chain).traces,
    onReport: listener.onReport,
  });
  const committing = createBlockCommitter(chain, {
    source,
    matcher,
    local,
    refuseBlocks,
    tracing,
    head: status.head,
  });
  const catchUp = createCatchUp(chain, {
    source,
    matcher,
    local,
    confirming,
    signal: stopping.signal,
  });
  const following = createFollower(options, {
    source,
    local,
    committing,
    log,
    signal: stopping.signal,
    onReorg(depth) {
      listener.onReorg(depth);
      status.publish();
    },
  });

  const dependencies = { source, local, onHead: status.recordHead, log };
  const readHead = async (): Promise<BlockHeader> => {
    const latest = await source.readHead();
    status.recordHead(latest);
    if (!options.isFinal && (await finality.refresh(latest.number))) status.publish();
    return latest;
  };

  /** Follows the chain toward its head. Once the head is reached, waits for a hint of a new one. */
  const advance = async (): Promise<void> => {
    const latest = await readHead();
    if (refuseBlocks() === undefined && (await catchUp.advance(latest))) {
      committing.clear();
      status.catchUp(latest.number);
      return;
    }
    let header = (await committing.passOver(latest)) ? undefined : await following.next(latest);
    let followed = 0;
    for (; header !== undefined && followed < BLOCKS_PER_HEAD; followed++) {
      if (isBehind(header, latest)) status.catchUp(latest.number);
      await following.follow(header);
      header = stopping.signal.aborted ? undefined : await following.next(latest);
    }
    // The head was not reached, or may have moved while several blocks were read.
    if (header !== undefined || followed > 1) return;
    status.goLive();
    await waker.sleep(HINT_TIMEOUT_MS);
  };

  /**
   * Reports the chain as down, unless the error may still resolve on its own. Records halts, and
   * logs errors that do not come from the nodes.
   */
  const recordFailure = async (error: unknown, failures: number): Promise<void> => {
    const isPassing = error instanceof SourceError && PASSING.includes(error.kind);
    if (!isPassing || failures >= PASSING_FAILURES) {
      status.goDown(describeFailure(error));
    }
    if (hasCode(error, 'chain_halted')) await local.recordHalt(error.message);
    else if (!(error instanceof SourceError)) {
      log.error('ingest failed', { chain, error: String(error) });
    }
  };

  /** Waits until a settling block is read again. Heads are read meanwhile. */
  const waitToSettle = async ({ message, retryAfterMs = 0 }: SourceError): Promise<void> => {
    status.settle(message);
    const until = performance.now() + Math.min(retryAfterMs, RETRY_MAX_MS);
    for (let leftMs = Infinity; leftMs > 0 && !stopping.signal.aborted;) {
      await readHead();
      leftMs = until - performance.now();
      if (leftMs > 0) await waker.sleep(leftMs);
    }
  };

  /** Advances; returns after a wait if the next block is settling. */
  const advanceOrSettle = async (): Promise<void> => {
    try {
      await advance();
    } catch (error) {
      if (!isOfKind(error, 'settling')) throw error;
      await waitToSettle(error);
    }
  };

  const run = async (): Promise<void> => {
    let connected = false;
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        if (!connected) await connect(options, dependencies);
        connected = true;
        await advanceOrSettle();
        failures = 0;
      } catch (error) {
        committing.clear();
        if (hasCode(error, 'lost_lease')) return listener.onLostLease();
        await recordFailure(error, ++failures);
        // After an error, the stored hashes are checked against the source again.
        connected = false;
        const retryMs = Math.min(RETRY_MIN_MS * 2 ** (failures - 1), RETRY_MAX_MS);
        const wishMs = error instanceof SourceError ? (error.retryAfterMs ?? 0) : 0;
        await wait(Math.max(retryMs, wishMs), undefined, stopping).catch(() => {});
      }
    }
  };

  return {
    report: status.report,
    confirmedHeights: local.confirmedHeights,
    settledUpTo: local.settledUpTo,
    start() {
      const unwatch = source.watchHeads(waker.wake);
      running = run().finally(unwatch);
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
