/** Tables of chains, blocks and matches. */
import type { GapKind } from '@sluice/kit/contract';

export interface BlockTables {
  checkpoint: CheckpointTable;
  block: BlockTable;
  match: MatchTable;
  /** Transactions with records in a match. Used to find deliveries by transaction hash. */
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
   * The next block, if its rules are settled: it may commit with the rules of `settled_revision`
   * even if newer rules exist, and later changes apply from the block after it. Null otherwise.
   */
  settled_number: number | null;
  /** Last ledger version of the settled block; null except on Aptos. */
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
  /** Time of the commit, in Unix milliseconds. */
  created_at: number;
}

/**
 * The condition that confirms a match: the confirmations of its `chain`, its own block (`latest`), a
 * `depth` of blocks, or the safe or finalized block.
 */
export type ConfirmBy = 'chain' | 'latest' | 'depth' | 'safe' | 'finalized';

/**
 * `frozen`: waits for confirmations. `orphaned`: its block left the chain, or the chain was
 * restarted before the match was confirmed.
 */
export type MatchState = 'frozen' | 'confirmed' | 'orphaned';

interface MatchTable {
  id: string;
  stream_id: string;
  chain: string;
  block_number: number;
  block_hash: string;
  /** UTC day of the block's timestamp, `YYYY-MM-DD`. An engine may divide tables by this day. */
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
  /** One-line summary of the body, for display. */
  about: string;
  /** JSON plan of the data that must still be read from the chain; null if the body is complete. */
  enrichment: string | null;
  /** Why the match cannot be sent; null otherwise. */
  set_aside: string | null;
  /**
   * Codes of what the evidence for the block does not cover, as in the header of its webhooks; null
   * if the block is verified.
   */
  unverified: string | null;
  /** Number of operators whose nodes returned the unverified block; null if it is verified. */
  witnesses: number | null;
  /** 1 while the deliveries of the match are held, because its stream holds unverified blocks. */
  held: number;
  confirm_by: ConfirmBy;
  /** Number of blocks that must follow with `depth`; otherwise 0. */
  confirm_depth: number;
  /** The body without the values of `confirmed` and `retries`, which `joinBody` adds. */
  body_head: string;
  body_tail: string;
  /** Total size of `body_head` and `body_tail` in bytes. */
  body_bytes: number;
  created_at: number;
}

interface ReorgTable {
  id: string;
  chain: string;
  /** Number of the common ancestor, which is the newest block that both branches share. */
  block_number: number;
  /** Number of removed blocks. */
  depth: number;
  created_at: number;
}

/** A gap of a chain; see `ChainGap` in the kit. */
export interface GapTable {
  id: string;
  chain: string;
  kind: GapKind;
  from_block: number;
  /** Null for a halt. */
  to_block: number | null;
  reason: string;
  created_at: number;
  /** Time at which the gap ended or blocks were last passed over; null during a halt. */
  ended_at: number | null;
}

/** An inclusive range of blocks that were accepted unverified or searched by range. */
interface UnverifiedTable {
  id: string;
  chain: string;
  /**
   * The stream whose backfill searched the blocks by range; null if the row applies to all streams
   * of the chain.
   */
  stream_id: string | null;
  from_block: number;
  to_block: number;
  reason: string;
  created_at: number;
}
