import type { HoleReason, JobKind, JobState } from '@sluice/kit/contract';

export interface JobTables {
  coverage: CoverageTable;
  hole: HoleTable;
  job: JobTable;
  job_values: JobValuesTable;
}

/** The first block of a chain that a stream is matched against live. */
interface CoverageTable {
  stream_id: string;
  chain: string;
  /** Null until the chain is read for the first time. */
  from_block: number | null;
}

/** A range of blocks that streams were not matched against. Both ends are included. */
interface HoleTable {
  chain: string;
  /** Null if the hole applies to all streams of the chain. */
  stream_id: string | null;
  from_block: number;
  /** Null while the hole is still growing. */
  to_block: number | null;
  reason: HoleReason;
  created_at: number;
}

/** A range of past blocks that is matched, or searched for children, for one stream. */
interface JobTable {
  id: string;
  stream_id: string;
  /** The only lane that gets the matches of a backfill; null for all lanes of the stream. */
  lane_id: string | null;
  chain: string;
  kind: JobKind;
  /**
   * How often the end of a search is still moved to the checkpoint, because children that were found
   * late may have created others meanwhile. 0 for backfills.
   */
  extensions: number;
  /** 1 if a search includes factories without `from`; see {@link RunningJob.isForAll}. */
  left_out: number;
  block_from: number;
  block_to: number;
  /** The next block to match. Greater than `block_to` when the job is done. */
  next_block: number;
  state: JobState;
  message: string;
  /** Number of blocks that have matched, or of logs with children, so far. */
  matches: number;
  created_at: number;
  updated_at: number;
}

/** The newest values that a backfill knows, with which it continues after a restart. */
interface JobValuesTable {
  job_id: string;
  /** JSON of `PastKnown`. */
  known: string;
}
