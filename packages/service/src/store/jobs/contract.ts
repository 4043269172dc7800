/** Backfills, and the blocks that each stream was matched against. */
import type {
  ChainCoverage,
  DeliverySummary,
  Job,
  JobState,
  UnverifiedBlocks,
} from '@sluice/kit/contract';
import type { BlockHeader, NewMatch } from '../blocks/contract.ts';

export interface JobReads {
  /** Returns the coverage by chain; empty for an unknown stream. */
  readCoverage(streamId: string): Promise<ChainCoverage[]>;
  /** Returns the blocks of this chain that were accepted unverified; null if there are none. */
  readUnverified(chain: string): Promise<UnverifiedBlocks | null>;
  readJob(id: string): Promise<Job | undefined>;
  /** Lists jobs, newest first. */
  listJobs(filter: { streamId?: string | undefined; limit: number }): Promise<Job[]>;
  /** Lists running jobs, oldest first. */
  listRunningJobs(chain: string): Promise<Job[]>;
}

export interface JobWrites {
  /** Creates a job; undefined if the stream is unknown. */
  createJob(job: {
    streamId: string;
    chain: string;
    blockFrom: number;
    blockTo: number;
  }): Promise<Job | undefined>;
  /**
   * Changes the state of a job; undefined if the job is unknown, or cannot change to this state.
   */
  setJobState(id: string, state: JobState, message: string): Promise<Job | undefined>;
  /** Sets the reason why a running job is waiting. */
  setJobMessage(id: string, message: string): Promise<void>;
  /**
   * Advances a job past these blocks, which follow its previous ones, and commits the matches in
   * them. Undefined if the job is no longer running or has moved on, or another process has taken
   * the chain's lease.
   */
  commitJob(commit: {
    id: string;
    chain: string;
    /** Epoch of the chain's lease. */
    epoch: number;
    from: number;
    to: number;
    /** Whether blocks were searched by their logs instead of read. Default: false. */
    byRange?: boolean | undefined;
    /** Those that were read, in order. */
    blocks: readonly {
      block: BlockHeader;
      matches: readonly NewMatch[];
      /** See {@link BlockCommit}. */
      unverified?: string | undefined;
    }[];
  }): Promise<{ job: Job; deliveries: DeliverySummary[] } | undefined>;
  /** Sends one block to one stream again. Each request creates its own deliveries. */
  commitManual(commit: {
    chain: string;
    block: BlockHeader;
    requestId: string;
    isConfirmed: boolean;
    matches: readonly NewMatch[];
  }): Promise<DeliverySummary[]>;
}
