/**
 * One chain, block by block: learn of a head, reconcile, fetch, match, commit. The loop holds no
 * truth of its own: it starts from the stored checkpoint, and what it keeps in memory is the stored
 * window of hashes. It never stops for an error; it says what is wrong and tries again.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createWaker } from '../base/waker.ts';
import type { Log } from '../base/log.ts';
import { NO_TRACING, type Tracing } from '../base/tracing.ts';
import type { BlockHeader } from '../store/blocks/contract.ts';
import type { ChainReport } from '../store/upkeep/contract.ts';
import type { Store } from '../store/store.ts';
import { type Matcher, createCommitting } from './commit.ts';
import { createConfirming } from './confirming.ts';
import { type ForkOptions, connect } from './connect.ts';
import { createFollowing } from './follow.ts';
import { hasCode } from '../base/errors.ts';
import { type LedgerListener, createLocalChain } from './localChain.ts';
import { type ChainSource, type MaybeUnverified, SourceError } from './source.ts';
import {
  LOGGED_GAP_BLOCKS,
  type ReportOptions,
  createStatus,
  reportUnread,
} from './status/status.ts';

export interface IngestOptions extends ReportOptions, ForkOptions {}

export interface IngestListener extends LedgerListener {
  /** So many blocks left the chain. */
  onReorg(depth: number): void;
  onReport(report: ChainReport): void;
  /** Another process has taken the chain: the loop has ended. */
  onLostLease(): void;
}

export interface Ingest {
  report(): ChainReport;
  start(): void;
  /** Ends after the block under way; nothing is left half committed. */
  stop(): Promise<void>;
}

/** While catching up the head is asked for once in so many blocks. */
const BLOCKS_PER_HEAD = 32;
/** A hint may be lost with a socket; the source's own poll comes sooner than this. */
const HINT_TIMEOUT_MS = 60_000;
const RETRY_MIN_MS = 250;
const RETRY_MAX_MS = 10_000;
/** Troubles that mostly pass by themselves; called an outage after so many tries. */
const PASSING: readonly string[] = ['missing', 'rate-limited', 'disagreement'];
const PASSING_FAILURES = 4;

/** @param options.epoch of the chain's lease, while which lasts the loop may run */
export function createIngest<Block extends MaybeUnverified>(
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
    /** Why no block may be committed now, for people; undefined while they may. */
    refuseBlocks?: () => string | undefined;
  },
): Ingest {
  const { chain } = options;
  /** Blocks that may come between two looks at the head. */
  const usualGap = options.isFinal ? LOGGED_GAP_BLOCKS : 1;
  const waker = createWaker();
  const stopping = new AbortController();
  stopping.signal.addEventListener('abort', waker.wake);
  let running: Promise<void> | undefined;

  const confirming = createConfirming(reportUnread(options, source).confirmations, source);
  const local = createLocalChain(options, { store, confirming, listener, log });
  const status = createStatus(options, {
    ...{ source, local, confirming, log },
    needsTraces: () => matcher.needs(chain).traces,
    onReport: listener.onReport,
  });
  const committing = createCommitting(chain, {
    ...{ source, matcher, local, refuseBlocks, tracing },
    head: status.head,
  });
  const following = createFollowing(options, {
    ...{ source, local, committing, log },
    onReorg: listener.onReorg,
  });

  const surroundings = { source, local, confirming, onHead: status.noteHead, log };
  const readHead = async (): Promise<BlockHeader> => {
    const latest = await source.readHead();
    status.noteHead(latest);
    if (await confirming.refresh()) status.publish();
    return latest;
  };

  /** Follows the chain to its head, or some way towards it. */
  const advance = async (): Promise<void> => {
    const latest = await readHead();
    let header = (await committing.passOver(latest)) ? undefined : await following.next(latest);
    if (header === undefined) {
      status.goLive();
      await waker.sleep(HINT_TIMEOUT_MS);
    }
    for (let n = 0; header !== undefined && n < BLOCKS_PER_HEAD; n++) {
      if (latest.number - header.number > usualGap) status.catchUp(latest.number);
      await following.follow(header);
      header = stopping.signal.aborted ? undefined : await following.next(latest);
    }
  };

  /** Says what is wrong. */
  const noteFailure = async (error: unknown, failures: number): Promise<void> => {
    const isPassing = error instanceof SourceError && PASSING.includes(error.kind);
    if (!isPassing || failures >= PASSING_FAILURES) {
      status.goDown(error instanceof Error ? error.message : String(error));
    }
    if (hasCode(error, 'chain_halted')) await local.noteHalt(error.message);
    else if (!(error instanceof SourceError)) {
      log.error('ingest failed', { chain, error: String(error) });
    }
  };

  const run = async (): Promise<void> => {
    let connected = false;
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        if (!connected) await connect(options, surroundings);
        connected = true;
        await advance();
        failures = 0;
      } catch (error) {
        committing.clear();
        if (hasCode(error, 'lost_lease')) return listener.onLostLease();
        await noteFailure(error, ++failures);
        // Hashes are held against the source again after every break.
        connected = false;
        const retryMs = Math.min(RETRY_MIN_MS * 2 ** (failures - 1), RETRY_MAX_MS);
        const wishMs = error instanceof SourceError ? (error.retryAfterMs ?? 0) : 0;
        await wait(Math.max(retryMs, wishMs), undefined, stopping).catch(() => {});
      }
    }
  };

  return {
    report: status.report,
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
