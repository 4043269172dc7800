/**
 * Runs the backfills of one chain: matches past blocks in order for one stream, with the same
 * matcher and ledger as live blocks. Jobs take turns, a few blocks each, up to the newest confirmed
 * block. The ledger holds each job's position, so a job continues there after a restart.
 */
import { createWaker } from '../base/waker.ts';
import type { DeliverySummary, Job } from '@sluice/kit/contract';
import type { BlockNeeds } from '../match/evm/block.ts';
import { type Log, describeError } from '../base/log.ts';
import type { BlockHeader, NewMatch } from '../store/blocks/contract.ts';
import type { Store } from '../store/store.ts';
import { type ChainSource, type MaybeUnverified, SourceError } from './source.ts';

export interface Backfill {
  start(): void;
  /** Looks for work now, because a job was created or resumed, or a block was confirmed. */
  wake(): void;
  /** Stops after the current blocks; an uncommitted batch is read again later. */
  stop(): Promise<void>;
}

/** The current rules of one stream. */
export interface StreamMatcher<Block> {
  needs: BlockNeeds;
  /** Returns several matches when one webhook can't hold them all; none when nothing matches. */
  match(block: Block): NewMatch[];
}

/** Blocks that are read at once and committed together. */
const BATCH_BLOCKS = 16;
/** Covers lost signals. */
const POLL_MS = 5_000;
const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 10_000;

export function createBackfill<Block extends MaybeUnverified>({
  chain,
  epoch,
  source,
  store,
  openMatcher,
  confirmedUpTo,
  onDeliveries,
  log,
}: {
  chain: string;
  /** Epoch of the chain's lease. */
  epoch: number;
  source: ChainSource<Block>;
  store: Store;
  /** Returns undefined when the stream was deleted. */
  openMatcher(streamId: string): Promise<StreamMatcher<Block> | undefined>;
  /** The newest confirmed block; null while unknown. */
  confirmedUpTo(): number | null;
  onDeliveries(deliveries: DeliverySummary[]): void;
  log: Log;
}): Backfill {
  const stopping = new AbortController();
  const waker = createWaker();
  let running: Promise<void> | undefined;
  let retryMs = RETRY_MIN_MS;

  const readRange = async (
    from: number,
    to: number,
    needs: BlockNeeds,
  ): Promise<{ header: BlockHeader; block: Block }[]> => {
    const numbers = Array.from({ length: to - from + 1 }, (_, n) => from + n);
    const read = await Promise.all(
      numbers.map(async (number) => {
        const header = await source.readHeader(number);
        if (header === undefined) {
          throw new SourceError('missing', `no node of this chain has block ${number}`);
        }
        return { header, block: await source.readBlock(header, needs) };
      }),
    );
    for (const [n, { header }] of read.entries()) {
      if (n > 0 && header.parentHash !== read[n - 1]!.header.hash) {
        throw new SourceError(
          'inconsistent',
          `block ${header.number} does not follow the previous one`,
        );
      }
    }
    return read;
  };

  /** Processes a few blocks of one job; returns false when it has nothing to do now. */
  const advance = async (job: Job): Promise<boolean> => {
    const confirmed = confirmedUpTo();
    const to = Math.min(job.nextBlock + BATCH_BLOCKS - 1, job.blockTo, confirmed ?? -1);
    if (to < job.nextBlock) {
      const message =
        confirmed === null
          ? 'waiting for the chain'
          : `waiting for block ${job.nextBlock} to be confirmed`;
      if (job.message !== message) await store.setJobMessage(job.id, message);
      return false;
    }
    const matcher = await openMatcher(job.streamId);
    if (matcher === undefined) {
      await store.setJobState(job.id, 'cancelled', 'the stream was deleted');
      return true;
    }
    const read = await readRange(job.nextBlock, to, matcher.needs);
    const done = await store.commitJob({
      id: job.id,
      chain,
      epoch,
      blocks: read.map(({ header, block }) => ({
        block: header,
        matches: matcher.match(block),
        unverified: block.unverified,
      })),
    });
    if (done === undefined) return true;
    onDeliveries(done.deliveries);
    if (done.job.state === 'done') {
      log.info('backfill done', {
        chain,
        job: job.id,
        stream: job.streamId,
        matches: done.job.matches,
      });
    }
    return true;
  };

  const turn = async (job: Job): Promise<boolean> => {
    try {
      const moved = await advance(job);
      retryMs = RETRY_MIN_MS;
      return moved;
    } catch (error) {
      if (!(error instanceof SourceError)) {
        log.error('backfill failed', {
          chain,
          job: job.id,
          stream: job.streamId,
          error: String(error),
        });
        await store.setJobState(job.id, 'failed', describeError(error));
        return true;
      }
      // The chain's health reports the node's problem; the job reports that it is waiting.
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
        for (const job of await store.listRunningJobs(chain)) {
          if (stopping.signal.aborted) return;
          if (await turn(job)) moved = true;
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
