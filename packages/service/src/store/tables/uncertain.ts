/** Table of uncertain blocks, which are read again later. */
export interface UncertainTables {
  uncertain: UncertainTable;
}

interface UncertainTable {
  chain: string;
  block_number: number;
  block_hash: string;
  /** The backfill that read the block; empty if it was read while following the chain. */
  job_id: string;
  parent_hash: string;
  /** Timestamp of the block in Unix seconds. */
  block_timestamp: number;
  codes: string;
  /** Number of later readings so far. */
  step: number;
  accepted_at: number;
  due_at: number;
  /** Time at which the block left the chain; null while it is in the chain. */
  left_at: number | null;
  /** JSON of the parts that were read. */
  needs: string;
  /** The records that were read, as the chain's family encodes them. */
  records: string;
}
