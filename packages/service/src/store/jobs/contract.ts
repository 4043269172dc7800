/** Backfill jobs, and coverage: the blocks that each stream was matched against. */
import type { ChainCoverage, Job, JobState, UnverifiedBlocks } from '@sluice/kit/contract';
import type { BlockHeader, NewMatch, Unverified } from '../blocks/contract.ts';
import type { KnownChild } from '../children/contract.ts';
import type { KnownRead } from '../values/contract.ts';

export interface RunningJob extends Job {
  /**
   * Whether a search includes factories without `from`, because the stream missed its blocks, or had
   * the maximum of children in them.
   */
  isForAll: boolean;
}

/** The values that a backfill knows before its next block. */
export interface PastKnown {
  reads: readonly KnownRead[];
  /** Whether a value that is not among them may have existed before. */
  isIncomplete: boolean;
}

export interface JobReads {
  /** Returns the stream's coverage by chain; empty for an unknown stream. */
  readCoverage(streamId: string): Promise<ChainCoverage[]>;
  /** Returns a summary of the chain's unverified blocks; null if there are none. */
  readUnverified(chain: string): Promise<UnverifiedBlocks | null>;
  /** Returns the codes of the committed block at this height; empty if it is verified. */
  readUnverifiedCodes(chain: string, number: number): Promise<string[]>;
  /** Returns what a backfill knows about values; undefined before its first block. */
  readJobValues(id: string): Promise<PastKnown | undefined>;
  readJob(id: string): Promise<Job | undefined>;
  /** Lists jobs, newest first. */
  listJobs(filter: { streamId?: string | undefined; limit: number }): Promise<Job[]>;
  /** Lists the running jobs of a chain, oldest first. */
  listRunningJobs(chain: string): Promise<RunningJob[]>;
  /**
   * Returns the block from which children of the stream may be missing, because a search for them is
   * running or paused; undefined if there is none.
   */
  readChildrenMissing(streamId: string, chain: string): Promise<number | undefined>;
}

export interface JobWrites {
  /**
   * Creates a job; returns undefined if the stream or destination is unknown. Default of
   * `destination`: all of the stream, including its `webhookUrl`, which is 0.
   */
  createJob(job: {
    streamId: string;
    destination?: number | undefined;
    chain: string;
    blockFrom: number;
    blockTo: number;
  }): Promise<Job | undefined>;
  /**
   * Creates a backfill for each chain of a stream, from this block to the last one that the current
   * rules of the stream do not apply to. Returns the existing backfill of a chain that starts at this
   * block and is not canceled instead, and omits chains on which `blockFrom` is a later block.
   * Returns undefined if the stream or destination is unknown. Default of `destination`: all.
   */
  createPastJobs(past: {
    streamId: string;
    destination?: number | undefined;
    blockFrom: number;
  }): Promise<{ jobs: Job[]; unread: string[] } | undefined>;
  /**
   * Changes the state of a job; returns undefined if the job is unknown or cannot change to this
   * state.
   */
  setJobState(id: string, state: JobState, message: string): Promise<Job | undefined>;
  /** Sets the message that shows why a running job is waiting. */
  setJobMessage(id: string, message: string): Promise<void>;
  /**
   * Advances a job past the blocks `from` to `to`, and commits the matches in them. Returns the
   * job; undefined if the job is not running or does not continue at `from`, or if another process has
   * taken the chain's lease.
   */
  commitJob(commit: {
    id: string;
    chain: string;
    /** Epoch of the chain's lease. */
    epoch: number;
    from: number;
    to: number;
    /**
     * Whether the blocks were searched for logs instead of being read one by one. Default: false.
     */
    byRange?: boolean | undefined;
    /** The blocks that were read, in order. */
    blocks: readonly {
      block: BlockHeader;
      matches: readonly NewMatch[];
      /** Marks of an unverified block; undefined if the block is verified. */
      unverified?: Unverified | undefined;
      /** The matches of values in the state of the block. Default: none. */
      valueMatches?: readonly NewMatch[];
      /** Whether no node has the state of the block, or the one before. Default: false. */
      lacksState?: boolean;
    }[];
    /** The values that are known after the blocks; undefined if the stream reads none. */
    known?: PastKnown | undefined;
  }): Promise<Job | undefined>;
  /**
   * Advances a search for children past the blocks `from` to `to`, and commits the children in them,
   * each once with its first block. At the maximum of the stream, the search fails at the first
   * block with a further child. Returns the job and the committed children, or undefined as
   * {@link JobWrites.commitJob} does.
   */
  commitSearch(commit: {
    id: string;
    chain: string;
    /** Epoch of the chain's lease. */
    epoch: number;
    from: number;
    to: number;
    /** Ascending by block. */
    children: readonly KnownChild[];
    /** The unverified blocks, in which children may be missing. Default: none. */
    unverified?: readonly { block: number; unverified: Unverified }[];
    /** Last block that may have been matched without the children. Default: the checkpoint. */
    matchedUpTo?: number | undefined;
  }): Promise<{ job: Job; children: readonly KnownChild[] } | undefined>;
  /**
   * Moves the end of a search for children that has reached it to the block after the checkpoint, or
   * ends the search if no further move is left. Must be called when all its children are loaded.
   */
  extendSearch(id: string): Promise<void>;
  /**
   * Commits the matches of a block that is sent to a stream again on request. Each request creates
   * new deliveries.
   */
  commitManual(commit: {
    chain: string;
    block: BlockHeader;
    requestId: string;
    isConfirmed: boolean;
    matches: readonly NewMatch[];
    /** Marks of an unverified block; undefined if the block is verified. */
    unverified?: Unverified | undefined;
  }): Promise<void>;
}
