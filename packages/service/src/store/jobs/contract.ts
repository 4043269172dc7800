/** Backfills, and which blocks each stream was matched against. */
import type {
  ChainCoverage,
  DeliverySummary,
  Job,
  JobState,
  UnverifiedBlocks,
} from '@sluice/kit/contract';
import type { BlockHeader, NewMatch } from '../blocks/contract.ts';

export interface JobReads {
  /** By chain; empty for an unknown stream. */
  readCoverage(streamId: string): Promise<ChainCoverage[]>;
  /** Blocks of this chain that were accepted unverified; null without any. */
  readUnverified(chain: string): Promise<UnverifiedBlocks | null>;
  readJob(id: string): Promise<Job | undefined>;
  /** Newest first. */
  listJobs(filter: { streamId?: string | undefined; limit: number }): Promise<Job[]>;
  /** Oldest first. */
  listRunningJobs(chain: string): Promise<Job[]>;
}

export interface JobWrites {
  /** Undefined when the stream is unknown. */
  createJob(job: {
    streamId: string;
    chain: string;
    blockFrom: number;
    blockTo: number;
  }): Promise<Job | undefined>;
  /** Undefined when the job is unknown, or cannot go there from where it is. */
  setJobState(id: string, state: JobState, message: string): Promise<Job | undefined>;
  /** Why a running job waits, for people. */
  sayOfJob(id: string, message: string): Promise<void>;
  /**
   * Moves a job past these blocks, which follow on each other and on what it did before, together with
   * what the stream matched in them. Undefined when it is no longer running or stands elsewhere, or the
   * lease of its chain is another's by now.
   */
  commitJob(commit: {
    id: string;
    chain: string;
    /** Of the chain's lease. */
    epoch: number;
    blocks: readonly {
      block: BlockHeader;
      matches: readonly NewMatch[];
      /** As of a {@link BlockCommit}. */
      unverified?: string | undefined;
    }[];
  }): Promise<{ job: Job; deliveries: DeliverySummary[] } | undefined>;
  /** Announces one block to one stream once more; each request has deliveries of its own. */
  commitManual(commit: {
    chain: string;
    block: BlockHeader;
    requestId: string;
    isConfirmed: boolean;
    matches: readonly NewMatch[];
  }): Promise<DeliverySummary[]>;
}
