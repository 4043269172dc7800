/**
 * Runs the backfills of one chain. Each job matches past blocks for one stream. Jobs take turns,
 * and continue from their stored position after a restart.
 */
import { type StreamMatcher, createReader } from './blockReader.ts';
import { createWaker } from '../base/waker.ts';
import { RetryableError } from '../base/errors.ts';
import type { Job } from '@sluice/kit/contract';
import { type Log, describeError } from '../base/log.ts';
import { confirmedUpTo } from '../store/blocks/confirmations.ts';
import type { BlockHeader, ConfirmedHeights } from '../store/blocks/contract.ts';
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

  /**
   * Processes the next batch of blocks of one job. Returns false if the job has nothing to do now.
   */
  const advance = async (job: Job, isAlone: boolean): Promise<boolean> => {
    const matcher = await openMatcher(job.streamId);
    if (matcher === undefined) {
      await store.setJobState(job.id, 'cancelled', 'the stream was deleted');
      return true;
    }
    const heights = confirmedHeights();
    const confirmed = heights === undefined ? -1 : confirmedUpTo(heights, matcher.confirmations);
    const upTo = Math.min(job.blockTo, confirmed);
    if (upTo < job.nextBlock) {
      const message =
        heights === undefined
          ? 'waiting for the chain'
          : `waiting for block ${job.nextBlock} to be confirmed`;
      if (job.message !== message) await store.setJobMessage(job.id, message);
      return false;
    }
    const limits = { upTo, searchUpTo: Math.min(upTo, settledUpTo() ?? -1) };
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

  const turn = async (job: Job, isAlone: boolean): Promise<boolean> => {
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
