/**
 * Follows one chain from the stored checkpoint: reads the head, reconciles, fetches, matches and
 * commits. After an error, the loop reports the error and retries, unless the chain's lease was
 * lost.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createWaker } from '../base/waker.ts';
import { type Log, describeError } from '../base/log.ts';
import { NO_TRACING, type Tracing } from '../base/tracing.ts';
import type { BlockHeader, BlockRef } from '../store/blocks/contract.ts';
import type { ChainReport } from '../store/upkeep/contract.ts';
import type { Store } from '../store/store.ts';
import { createCatchUp } from './catchUp.ts';
import { type Matcher, createCommitting, type Committing } from './commit.ts';
import {
  createConfirming,
  type LedgerListener,
  createLocalChain,
  type LocalChain,
  haltError,
} from './localChain.ts';
import {
  type ForkOptions,
  followNew,
  followIfReplaced,
  connect,
  describeForeign,
  describeYounger,
} from './connect.ts';
import { createRollbackWatch } from './rollback.ts';
import { ServiceError, hasCode } from '../base/errors.ts';
import { isUnavailable } from '../store/engine/unavailable.ts';
import {
  type ChainSource,
  type MaybeUnverified,
  SourceError,
  isLacking,
  isOfKind,
} from './source.ts';
import { type ReportOptions, createStatus, isBehind, reportUnread } from './status/status.ts';
import { type Reconciled, reconcile } from './reconcile.ts';

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

  const confirming = createConfirming(
    reportUnread(options, source).confirmations,
    source,
    options.isFinal,
  );
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
  const catchUp = createCatchUp(chain, {
    ...{ source, matcher, local, confirming, signal: stopping.signal },
  });
  const following = createFollowing(options, {
    ...{ source, local, committing, log },
    signal: stopping.signal,
    onReorg(depth) {
      listener.onReorg(depth);
      status.publish();
    },
  });

  const surroundings = { source, local, confirming, onHead: status.recordHead, log };
  const readHead = async (): Promise<BlockHeader> => {
    const latest = await source.readHead();
    status.recordHead(latest);
    if (await confirming.refresh()) status.publish();
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
        if (!connected) await connect(options, surroundings);
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

/** Maximum number of consecutive heights without a block. */
const MAX_EMPTY_HEIGHTS = 64;

/** Returns an error that may mean that there is no block; throws any other error. */
function toLacking(error: unknown): SourceError {
  if (error instanceof SourceError && isLacking(error)) return error;
  throw error;
}

export interface Following {
  /**
   * Returns the header to follow: the block after the local tip, or a head on another branch;
   * undefined if there is none.
   */
  next(head: BlockHeader): Promise<BlockHeader | undefined>;
  /**
   * Makes this block the local tip: removes the local blocks on another branch, and commits the
   * blocks that lead to this one.
   */
  follow(header: BlockHeader): Promise<void>;
}

/** Follows the source block by block, and switches to another branch when the chain forks. */
export function createFollowing(
  options: ForkOptions,
  {
    source,
    local,
    committing,
    onReorg,
    log,
    signal,
  }: {
    source: Pick<ChainSource<unknown>, 'readHeader' | 'readHead' | 'readGenesisHash' | 'doubt'>;
    local: Pick<LocalChain, 'window' | 'tip' | 'rewind' | 'startAt' | 'readCheckpoint' | 'load'>;
    committing: Committing;
    onReorg(depth: number): void;
    log: Log;
    signal: AbortSignal;
  },
): Following {
  const { chain, isFinal = false, isDevnet = false } = options;
  const rollbacks = createRollbackWatch(source, signal);

  const readParent = async ({ number, hash, parentHash }: BlockHeader): Promise<BlockHeader> => {
    const parent = await source.readHeader(parentHash);
    if (parent !== undefined) return parent;
    source.doubt(hash);
    throw new SourceError('missing', `parent ${parentHash} of block ${number} is missing`);
  };

  /**
   * Reads the header after the tip. Heights without a block, as on Filecoin, are skipped if the next
   * block follows the tip.
   */
  const readNext = async (tip: BlockRef, { number: head }: BlockRef): Promise<BlockHeader> => {
    const next = tip.number + 1;
    const failure = await committing.readHeader(next, head).catch(toLacking);
    if (failure !== undefined && !(failure instanceof SourceError)) return failure;
    for (
      let number = next + 1;
      number <= Math.min(head, tip.number + MAX_EMPTY_HEIGHTS);
      number++
    ) {
      const header = await source.readHeader(number).catch(toLacking);
      if (header === undefined || header instanceof SourceError) continue;
      if (header.parentHash === tip.hash) return header;
      break;
    }
    throw failure ?? new SourceError('missing', `block ${next} is missing below head ${head}`);
  };

  const throwForked = ({ number, parentHash }: BlockHeader): never => {
    throw haltError(
      `block ${number} follows ${parentHash} but the ledger has ${local.tip()!.hash} before it, and ` +
        `this chain does not fork: ${describeForeign(options)}`,
    );
  };

  const rollBack = async ({
    commonAncestor,
    removed,
  }: Omit<Verdict<'reorg'>, 'kind'>): Promise<void> => {
    log.warn('reorg', { chain, ancestor: commonAncestor.number, removed: removed.length });
    committing.clear();
    await local.rewind(commonAncestor, removed.length);
    onReorg(removed.length);
  };

  const startOver = async (oldest: number): Promise<void> => {
    const latest = await source.readHead();
    const genesisHash = await source.readGenesisHash();
    const tip = local.tip()!;
    const younger = describeYounger(latest, tip);
    if (younger !== undefined) {
      return followNew(chain, { source, local, log }, { latest, genesisHash, why: younger });
    }
    if (latest.number <= tip.number) {
      throw new SourceError(
        'missing',
        `the node went back to block ${latest.number}, below the ledger's window. Waiting for its next block`,
      );
    }
    const why = `rolled back below block ${oldest}, the oldest block in the ledger's window: restarted at the head`;
    await local.startAt(latest, genesisHash, { holeFrom: oldest, why });
    log.warn('chain was rolled back beyond the window, restarting at its head', {
      chain,
      block: latest.number,
    });
  };

  return {
    async next(latest) {
      const number = local.tip()!.number + 1;
      if (latest.number > number) {
        return readNext(local.tip()!, latest);
      }
      // On chains that cannot fork, the head is read by height like any other block, because the
      // newest block may be incomplete.
      if (latest.number === number) return isFinal ? source.readHeader(number) : latest;
      // A head at or below the local tip is not new, unless the node is now on another branch, or the
      // chain went back or restarted.
      if (isFinal) {
        const isYounger = describeYounger(latest, local.tip()!) !== undefined;
        if (isYounger) await followIfReplaced(options, { source, local, log });
        return undefined;
      }
      const window = local.window();
      const at = window.findIndex(({ hash }) => hash === latest.hash);
      if (at < 0) return latest;
      if (at > 0 && isDevnet && (await rollbacks.isCertain(latest, window[0]!))) {
        const removed = window.slice(0, at);
        await rollBack({ commonAncestor: latest, removed });
        rollbacks.remember(removed);
      }
      return undefined;
    },

    async follow(header) {
      const branch: [BlockHeader, ...BlockHeader[]] = [header];
      let verdict: Reconciled;
      while ((verdict = reconcile(local.window(), branch)).kind === 'detached') {
        if (isFinal) throwForked(header);
        branch.unshift(await readParent(branch[0]));
      }
      switch (verdict.kind) {
        case 'duplicate':
          return;
        case 'extend':
          rollbacks.onBlock(branch[0]);
          return committing.commit(branch[0]);
        case 'gap':
          throw new SourceError(
            'inconsistent',
            `the node returned block ${header.number} instead of ${verdict.from}`,
          );
        case 'reorg':
          if (isFinal) throwForked(header);
          await rollBack(verdict);
          for (const block of branch) await committing.commit(block);
          return;
        case 'too-deep':
          // Checks that the parent exists, because a made-up hash does not prove a reorg.
          await readParent(branch[0]);
          committing.clear();
          if (await followIfReplaced(options, { source, local, log })) return;
          if (isDevnet) return startOver(verdict.oldest);
          throw haltError(
            `a reorg reaches below block ${verdict.oldest}, the oldest block in the ledger's window; no block was skipped. ` +
              `To continue and leave a hole, run: sluice chains resume ${chain} --from <block>`,
          );
      }
    },
  };
}

type Verdict<Kind> = Extract<Reconciled, { kind: Kind }>;
