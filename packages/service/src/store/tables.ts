/** The rows of the ledger. Times are Unix milliseconds unless a name says otherwise. */
import type {
  ChainFamily,
  DeliverMode,
  DeliveryPhase,
  DeliveryState,
  StreamStatus,
} from '@sluice/kit/contract';

export interface Tables {
  setting: { key: string; value: string };
  /** One row: raised by each change of a stream or its addresses. */
  rule_revision: { id: number; revision: number };
  stream: StreamTable;
  stream_address: { stream_id: string; address: string; added_at: number };
  checkpoint: CheckpointTable;
  block: BlockTable;
  match: MatchTable;
  /** Transactions a match has records of, so that a delivery is found by their hash. */
  match_transaction: { transaction_hash: string; match_id: string };
  token: TokenTable;
  delivery: DeliveryTable;
  attempt: AttemptTable;
  /** Append-only, rolled up into `stat`: counters updated in place deadlock under load. */
  stat_delta: StatTable;
  stat: StatTable;
}

interface StreamTable {
  id: string;
  family: ChainFamily;
  tag: string;
  description: string;
  webhook_url: string;
  /** JSON array of chain ids. */
  chain_ids: string;
  /** JSON of what to match and send along, as the options of its family. */
  options: string;
  deliver: DeliverMode;
  /** 1 where deliveries of blocks that left the chain are taken back. */
  notify_removed: number;
  /** JSON object: headers of the user's own, sent with each webhook. */
  headers: string;
  status: StreamStatus;
  status_message: string;
  /** Since when the status is `error`; null while it is not. */
  error_since: number | null;
  address_count: number;
  /** Value of `rule_revision` at the last change of what the stream matches. */
  revision: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

interface CheckpointTable {
  chain: string;
  number: number;
  hash: string;
  /** Hash of block 0, so that a chain that was replaced is noticed. */
  genesis_hash: string;
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
  /** `live:<incarnation>`, `job:<jobId>` or `manual:<requestId>`: why the block was matched. */
  origin: string;
  state: MatchState;
  tag: string;
  logs: number;
  transactions: number;
  internal_transactions: number;
  /** JSON of what is still to be read from the chain; null once the body is whole. */
  enrichment: string | null;
  /** The body is stored once, split at `confirmed` and `retries`. */
  body_head: string;
  body_tail: string;
  created_at: number;
}

/** What a token contract says of itself, so that it is asked once. */
interface TokenTable {
  chain: string;
  address: string;
  /** Empty where the contract does not say. */
  name: string;
  symbol: string;
  decimals: number | null;
  /** `ERC20`, `ERC721`, `ERC1155` or empty. */
  standard: string;
  /** Block it was read at. */
  block_number: number;
  updated_at: number;
}

interface DeliveryTable {
  /** Also the `webhook-id` of each attempt. */
  id: string;
  match_id: string;
  stream_id: string;
  /** `chain:blockHash:phase:part:origin`, unique per stream: a block read twice delivers once. */
  event_key: string;
  phase: DeliveryPhase;
  chain: string;
  block_number: number;
  block_day: string;
  tag: string;
  /** Logs, transactions and internal transactions. */
  records: number;
  state: DeliveryState;
  attempts: number;
  /** Leases taken, counted apart from attempts. */
  claims: number;
  run_at: number;
  lease_token: string | null;
  lease_until: number | null;
  last_status: number | null;
  last_error: string | null;
  last_duration_ms: number | null;
  created_at: number;
  updated_at: number;
}

interface AttemptTable {
  delivery_id: string;
  number: number;
  webhook_url: string;
  started_at: number;
  duration_ms: number;
  status: number | null;
  error: string | null;
  response_body: string;
}

export type StatMetric = 'delivered' | 'failed_attempts';

interface StatTable {
  stream_id: string;
  /** Unix minutes. */
  minute: number;
  metric: StatMetric;
  n: number;
}
