/** Tables of backfills, and of the blocks that each stream was matched against. */
import type { HoleReason, JobState } from '@sluice/kit/contract';

export interface JobTables {
  coverage: CoverageTable;
  hole: HoleTable;
  job: JobTable;
}

/** The block from which a stream is evaluated on a chain. */
interface CoverageTable {
  stream_id: string;
  chain: string;
  /** Null until the chain is first read. */
  from_block: number | null;
}

/** A range of blocks that were not evaluated, both ends included. */
interface HoleTable {
  chain: string;
  /** Null if the hole applies to all streams of the chain. */
  stream_id: string | null;
  from_block: number;
  /** Null while it is still growing. */
  to_block: number | null;
  reason: HoleReason;
  created_at: number;
}

/** A range of past blocks that is matched for one stream. */
interface JobTable {
  id: string;
  stream_id: string;
  chain: string;
  block_from: number;
  block_to: number;
  /** The next block to match; greater than `block_to` after the end. */
  next_block: number;
  state: JobState;
  message: string;
  /** Number of blocks in which the stream matched. */
  matches: number;
  created_at: number;
  updated_at: number;
}
