/**
 * Runs the jobs of one chain. A backfill matches past blocks for one stream; a search finds the
 * children of its factories in them. Jobs take turns, and continue from their stored position after
 * a restart.
 */
import { type ReadLimits, type StreamMatcher, createReader } from './blockReader.ts';
import { type OpenFinder, createChildSearch } from './childSearch.ts';
import type { Matcher } from './commit.ts';
import { createWaker } from '../base/waker.ts';
import { RetryableError } from '../base/errors.ts';
import type { Confirmations, Job } from '@sluice/kit/contract';
import { type Log, describeError } from '../base/log.ts';
import { confirmedUpTo } from '../store/blocks/confirmations.ts';
import type { BlockHeader, ConfirmedHeights } from '../store/blocks/contract.ts';
import type { RunningJob } from '../store/jobs/contract.ts';
import type { Store } from '../store/store.ts';
import { type ChainSource, type MaybeUnverified, headerOf } from './source.ts';

export interface Backfill {
  start(): void;
  /**
   * Looks for work now instead of at the next poll. Called on each `jobs` signal, and after each
   * committed block.
   */
  wake(): void;
  /**
   * Stops after the current batch of blocks. If the batch could not be committed, it is read again
   * after the next start.
   */
  stop(): Promise<void>;
}

/** Interval of polls, which find work whose signal was lost. */
const POLL_MS = 5_000;
const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 10_000;

export function createBackfill<Block extends BlockHeader & MaybeUnverified>({
  chain,
  epoch,
  source,
  store,
  openMatcher,
  openFinder,
  matcher,
  confirmedHeights,
  settledUpTo,
  log,
}: {
  chain: string;
  /** Epoch of the chain's lease. */
  epoch: number;
  source: ChainSource<Block>;
  store: Store;
  /** Returns the matcher of a stream; undefined if the stream was deleted. */
  openMatcher(streamId: string): Promise<StreamMatcher<Block> | undefined>;
  openFinder: OpenFinder<Block>;
  matcher: Pick<Matcher<Block>, 'addLateChildren'>;
  /** Returns the numbers of the newest confirmed blocks; undefined while unknown. */
  confirmedHeights(): ConfirmedHeights | undefined;
  /**
   * Returns the number of the newest confirmed block that is too old for any reorg; null while
   * unknown.
   */
  settledUpTo(): number | null;
  log: Log;
}): Backfill {
  const stopping = new AbortController();
  const waker = createWaker();
  let running: Promise<void> | undefined;
  let retryMs = RETRY_MIN_MS;

  const read = createReader(source);
  const children = createChildSearch({ chain, epoch, store, read, openFinder, matcher });

  /** Returns the limits of the next blocks, or why the job waits for them. */
  const limitsOf = (
    { nextBlock, blockTo }: Job,
    confirmations: Confirmations | null,
    mostUpTo = Infinity,
  ): ReadLimits | string => {
    const heights = confirmedHeights();
    if (heights === undefined) return 'waiting for the chain';
    if (mostUpTo < nextBlock) return 'waiting for the search for children of factories';
    const upTo = Math.min(blockTo, confirmedUpTo(heights, confirmations), mostUpTo);
    if (upTo < nextBlock) return `waiting for block ${nextBlock} to be confirmed`;
    return { upTo, searchUpTo: Math.min(upTo, settledUpTo() ?? -1) };
  };

  const showWait = async (job: Job, message: string): Promise<false> => {
    if (job.message !== message) await store.setJobMessage(job.id, message);
    return false;
  };

  /**
   * Processes the next batch of blocks of one job. Returns false if the job has nothing to do now.
   */
  const advance = async (job: RunningJob, isAlone: boolean): Promise<boolean> => {
    if (job.kind === 'children') {
      if (job.nextBlock > job.blockTo) {
        await store.extendSearch(job.id);
        return true;
      }
      const limits = limitsOf(job, null);
      if (typeof limits === 'string') return showWait(job, limits);
      await children.advance(job, limits, isAlone);
      return true;
    }
    const matcher = await openMatcher(job.streamId);
    if (matcher === undefined) {
      await store.setJobState(job.id, 'cancelled', 'the stream was deleted');
      return true;
    }
    const missing = await store.readChildrenMissing(job.streamId, chain);
    const limits = limitsOf(
      job,
      matcher.confirmations,
      missing === undefined ? undefined : missing - 1,
    );
    if (typeof limits === 'string') return showWait(job, limits);
    const { to, blocks, byRange } = await read(job, matcher, limits, isAlone);
    const done = await store.commitJob({
      id: job.id,
      chain,
      epoch,
      from: job.nextBlock,
      to,
      byRange,
      blocks: await Promise.all(
        blocks.map(async (block) => ({
          block: headerOf(block),
          matches: await matcher.match(block),
          unverified: block.unverified,
        })),
      ),
    });
    if (done === undefined) return true;
    if (done.state === 'done') {
      log.info('backfill done', {
        chain,
        job: job.id,
        stream: job.streamId,
        matches: done.matches,
      });
    }
    return true;
  };

  const turn = async (job: RunningJob, isAlone: boolean): Promise<boolean> => {
    try {
      const moved = await advance(job, isAlone);
      retryMs = RETRY_MIN_MS;
      return moved;
    } catch (error) {
      if (!(error instanceof RetryableError)) {
        log.error('backfill failed', {
          chain,
          job: job.id,
          stream: job.streamId,
          error: String(error),
        });
        await store.setJobState(job.id, 'failed', describeError(error));
        return true;
      }
      // A failure that may pass does not fail the job. The job's message shows the error.
      await store.setJobMessage(job.id, error.message);
      if (!stopping.signal.aborted) await waker.sleep(retryMs);
      retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
      return true;
    }
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      let moved = false;
      try {
        const jobs = await store.listRunningJobs(chain);
        for (const job of jobs) {
          if (stopping.signal.aborted) return;
          if (await turn(job, jobs.length === 1)) moved = true;
        }
      } catch (error) {
        log.error('failed to read jobs, retrying', { chain, error: String(error) });
      }
      if (!moved) await waker.sleep(POLL_MS);
    }
  };

  return {
    start() {
      running = run();
    },
    wake: waker.wake,
    async stop() {
      stopping.abort();
      waker.wake();
      await running;
    },
  };
}
