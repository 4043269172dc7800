/** Blocks that are read again later: accepted with a failed check, or held by a stream. */
import type {
  BlockNeeds,
  BlockHeader,
  ConfirmedHeights,
  NewMatch,
  Reading,
  Unverified,
} from '../blocks/contract.ts';
import type { Child } from '../children/contract.ts';

export interface UncertainBlock {
  chain: string;
  header: BlockHeader;
  /** The backfill that read the block; null if it was read while following the chain. */
  jobId: string | null;
  /** The stream of the backfill; null if it was read while following the chain. */
  streamId: string | null;
  codes: string;
  /** The parts that were read. */
  needs: BlockNeeds;
  /** The records that were read. */
  records: string;
  /** Number of later readings so far. */
  step: number;
  /** Milliseconds since the block was accepted. */
  ageMs: number;
  /** Whether a stream holds its matches in the block. */
  isHeld: boolean;
}

/** A stored match of an uncertain block. */
export interface UncertainMatch {
  id: string;
  streamId: string;
  /** Whether the stream requests removal webhooks. */
  notifyRemoved: boolean;
  bodyHead: string;
  bodyTail: string;
}

/** The result of a later reading. */
export interface LaterReading {
  block: UncertainBlock;
  /** Epoch of the chain's lease. */
  epoch: number;
  /** Matches of the records that appeared, and of streams whose matches are removed. */
  matches: readonly NewMatch[];
  /** Children of factories in records that appeared. */
  children?: readonly Child[] | undefined;
  /** Last block that may have been matched without the children. Default: the checkpoint. */
  matchedUpTo?: number | undefined;
  /** Ids of matches with records that vanished. */
  removed: readonly string[];
  /** The numbers of the newest confirmed blocks; undefined while unknown. */
  heights: ConfirmedHeights | undefined;
  /** Marks after this reading; undefined if the block is verified. */
  unverified: Unverified | undefined;
  /** When to read the block again; undefined if this was the last reading. */
  next: Pick<Reading, 'records' | 'dueInMs'> | undefined;
}

export interface UncertainStream {
  streamId: string;
  /** Whether the stream is matched against new blocks now: it is not paused, and not of a backfill. */
  isLive: boolean;
}

export interface UncertainReads {
  /** Returns the block of a chain whose reading has been due the longest. */
  nextUncertain(chain: string): Promise<UncertainBlock | undefined>;
  /** Returns the number of blocks that wait for a later reading, by chain. */
  countUncertain(): Promise<Record<string, number>>;
  /**
   * Returns the matches of an uncertain block that are still valid, except those of deleted streams
   * and of other backfills.
   */
  listUncertainMatches(block: UncertainBlock): Promise<UncertainMatch[]>;
  /**
   * Returns the streams for which records that appear in the block are matched: the streams that
   * were matched against it, and are not deleted.
   */
  listUncertainStreams(block: UncertainBlock): Promise<UncertainStream[]>;
}

export interface UncertainWrites {
  /**
   * Commits a later reading, and returns the children that were added. Returns undefined if the block
   * has left the chain or was read by another process in the meantime.
   */
  commitReading(reading: LaterReading): Promise<{ children: readonly Child[] } | undefined>;
  /** Postpones the next reading of a block, without counting this one. */
  postponeReading(block: UncertainBlock, byMs: number): Promise<void>;
  /** Ends the readings of a block that no node has anymore; its mark stays. */
  endReadings(block: UncertainBlock): Promise<void>;
}
