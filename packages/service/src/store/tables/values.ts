/** Tables of the values on chain that streams read. */
export interface ValueTables {
  pending_state: PendingStateTable;
  read_value: ReadValueTable;
  read_up_to: ReadUpToTable;
}

/** A committed block in whose state the values of streams are still to be read. */
interface PendingStateTable {
  chain: string;
  block_number: number;
  block_hash: string;
  parent_hash: string;
  /** Timestamp of the block in Unix seconds. */
  block_timestamp: number;
  /** Number of the block before it, which differs by more than 1 on chains with empty heights. */
  after_number: number;
}

/**
 * A run of consecutive blocks with the same value, or in which the contract returned none. The rows
 * follow the chain: a rewind deletes and shortens them.
 */
interface ReadValueTable {
  stream_id: string;
  chain: string;
  /** Key of the value, which depends only on what is read and when it is sent. */
  read_key: string;
  from_block: number;
  /** The last block of the run, unless it lasts. */
  to_block: number;
  /** Timestamp of the last block in Unix seconds. */
  to_timestamp: number;
  /** JSON of the value; null if the contract returned none. */
  value: string | null;
  /** Why the contract returned no value; null if it did. */
  error: string | null;
  /**
   * 1 while the run lasts up to the block of the stream in `read_up_to`, so that a value that stays
   * the same is not written in each block.
   */
  lasts: number;
}

/** The last block in whose state the lasting values of a stream were read. */
interface ReadUpToTable {
  stream_id: string;
  chain: string;
  block_number: number;
}
