/** Tables of chains, blocks and matches. */
import type { GapKind } from '@sluice/kit/contract';

export interface BlockTables {
  checkpoint: CheckpointTable;
  block: BlockTable;
  match: MatchTable;
  /** Transactions with records in a match, to find deliveries by transaction hash. */
  match_transaction: { transaction_hash: string; match_id: string; block_day: string };
  reorg: ReorgTable;
  gap: GapTable;
  unverified: UnverifiedTable;
}

interface CheckpointTable {
  chain: string;
  number: number;
  hash: string;
  /** Hash of block 0, to detect that a chain was replaced. */
  genesis_hash: string;
  /** Ledger version of the block's last transaction; null except on Aptos. */
  version: number | null;
  /**
   * The block above the checkpoint with settled rules: it commits with the rules of
   * `settled_revision`, and later changes apply to the block after it. Null if there is none.
   */
  settled_number: number | null;
  /** Last ledger version of the block; null except on Aptos. */
  settled_version: number | null;
  settled_revision: number | null;
  updated_at: number;
}

/** The window of recent blocks used to detect reorgs. */
interface BlockTable {
  chain: string;
  number: number;
  hash: string;
  parent_hash: string;
  /** Timestamp in Unix seconds, as reported by the chain. */
  timestamp: number;
  matches: number;
  /** Time of the commit. */
  created_at: number;
}

/** `frozen` awaits its confirmations; `orphaned` left the chain with its block. */
export type MatchState = 'frozen' | 'confirmed' | 'orphaned';

interface MatchTable {
  id: string;
  stream_id: string;
  chain: string;
  block_number: number;
  block_hash: string;
  /** UTC day of the block's timestamp, `YYYY-MM-DD`, which determines retention. */
  block_day: string;
  part: number;
  parts: number;
  /** Origin of the match: `live:<incarnation>`, `job:<jobId>` or `manual:<requestId>`. */
  origin: string;
  state: MatchState;
  tag: string;
  logs: number;
  transactions: number;
  internal_transactions: number;
  /** One-line summary of the body, for people. */
  about: string;
  /** JSON of the data that must still be read from the chain; null once the body is complete. */
  enrichment: string | null;
  /** Reason why the match cannot be sent; null otherwise. */
  set_aside: string | null;
  /** The body is stored once, split at `confirmed` and `retries`. */
  body_head: string;
  body_tail: string;
  /** Total length of both parts. */
  body_bytes: number;
  created_at: number;
}

/** A reorg of a chain. */
interface ReorgTable {
  id: string;
  chain: string;
  /** Common ancestor: the newest block of both branches. */
  block_number: number;
  /** Number of removed blocks. */
  depth: number;
  created_at: number;
}

/** A gap, at which a chain did not continue block by block; see `ChainGap` of the contract. */
export interface GapTable {
  id: string;
  chain: string;
  kind: GapKind;
  from_block: number;
  /** Null for a halt. */
  to_block: number | null;
  reason: string;
  created_at: number;
  /** End of the halt; null while it lasts. */
  ended_at: number | null;
}

/** A range of blocks that were accepted unverified, both ends included. */
interface UnverifiedTable {
  id: string;
  chain: string;
  /** The stream for which they were searched by their logs; null for every stream of the chain. */
  stream_id: string | null;
  from_block: number;
  to_block: number;
  reason: string;
  created_at: number;
}
