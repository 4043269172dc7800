/** Rows of chains, blocks and matches. */
import type { GapKind } from '@sluice/kit/contract';

export interface BlockTables {
  checkpoint: CheckpointTable;
  block: BlockTable;
  match: MatchTable;
  /** Transactions a match has records of, so that a delivery is found by their hash. */
  match_transaction: { transaction_hash: string; match_id: string; block_day: string };
  reorg: ReorgTable;
  gap: GapTable;
  unverified: UnverifiedTable;
}

interface CheckpointTable {
  chain: string;
  number: number;
  hash: string;
  /** Hash of block 0, so that a chain that was replaced is noticed. */
  genesis_hash: string;
  /** Ledger version of the block's last transaction; null but on Aptos. */
  version: number | null;
  /**
   * The block above the checkpoint whose rules are settled: it commits with those of `settled_revision`,
   * and what changes later applies from the block after it. Null while there is none.
   */
  settled_number: number | null;
  /** Its last ledger version; null except on Aptos. */
  settled_version: number | null;
  settled_revision: number | null;
  updated_at: number;
}

/** The window of recent blocks that reorgs are measured against. */
interface BlockTable {
  chain: string;
  number: number;
  hash: string;
  parent_hash: string;
  /** Unix seconds, as the chain says. */
  timestamp: number;
  matches: number;
  /** When it was committed. */
  created_at: number;
}

/** `frozen` awaits its confirmations, `orphaned` left the chain with its block. */
export type MatchState = 'frozen' | 'confirmed' | 'orphaned';

interface MatchTable {
  id: string;
  stream_id: string;
  chain: string;
  block_number: number;
  block_hash: string;
  /** UTC day of the block's timestamp, `YYYY-MM-DD`: what retention goes by. */
  block_day: string;
  part: number;
  parts: number;
  /** `live:<incarnation>`, `job:<jobId>` or `manual:<requestId>`: why the block was matched. */
  origin: string;
  state: MatchState;
  tag: string;
  logs: number;
  transactions: number;
  internal_transactions: number;
  /** What the body says, in a line for people. */
  about: string;
  /** JSON of what is still to be read from the chain; null once the body is whole. */
  enrichment: string | null;
  /** Why nothing of it is sent; null for any other match. */
  set_aside: string | null;
  /** The body is stored once, split at `confirmed` and `retries`. */
  body_head: string;
  body_tail: string;
  /** Length of both together. */
  body_bytes: number;
  created_at: number;
}

/** Where a chain went another way. */
interface ReorgTable {
  id: string;
  chain: string;
  /** The newest block that stayed. */
  block_number: number;
  /** Blocks that left. */
  depth: number;
  created_at: number;
}

/** Where a chain did not go on block by block; see `ChainGap` of the contract. */
export interface GapTable {
  id: string;
  chain: string;
  kind: GapKind;
  from_block: number;
  /** Null of a halt. */
  to_block: number | null;
  reason: string;
  created_at: number;
  /** Null while it lasts. */
  ended_at: number | null;
}

/** Blocks that were accepted unverified; both ends belong to it. */
interface UnverifiedTable {
  id: string;
  chain: string;
  from_block: number;
  to_block: number;
  reason: string;
  created_at: number;
}
