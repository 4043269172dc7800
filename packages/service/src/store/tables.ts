/** The rows of the ledger. Times are Unix milliseconds unless a name says otherwise. */
import type { Generated } from 'kysely';
import type {
  ChainFamily,
  DeliverMode,
  DeliveryPhase,
  DeliveryState,
  GapKind,
  HoleReason,
  JobState,
  ReplayState,
  SparedReason,
  StreamChangeKind,
  StreamStatus,
} from '@sluice/kit/contract';
import type { LatencyMetric } from './latency.ts';

export interface Tables {
  setting: { key: string; value: string };
  api_key: ApiKeyTable;
  /** Sessions of the console that were signed out, until they would have ended by themselves. */
  ended_session: { id: string; expires_at: number };
  /** Append-only. */
  audit: AuditTable;
  /** One row: raised by each change of a stream or its addresses. */
  rule_revision: {
    id: number;
    revision: number;
    /** Newest revision whose changes of addresses are no longer kept whole. */
    trimmed: number;
  };
  stream: StreamTable;
  stream_address: StreamAddressTable;
  address_change: AddressChangeTable;
  address_change_part: AddressChangePartTable;
  checkpoint: CheckpointTable;
  lease: LeaseTable;
  block: BlockTable;
  match: MatchTable;
  /** Transactions a match has records of, so that a delivery is found by their hash. */
  match_transaction: { transaction_hash: string; match_id: string; block_day: string };
  token: TokenTable;
  delivery: DeliveryTable;
  attempt: AttemptTable;
  coverage: CoverageTable;
  hole: HoleTable;
  job: JobTable;
  reorg: ReorgTable;
  gap: GapTable;
  unverified: UnverifiedTable;
  stream_change: StreamChangeTable;
  inbox: { name: string; answer: string; received: number };
  inbox_request: InboxRequestTable;
  replay: ReplayTable;
  operator_notice: OperatorNoticeTable;
  /** Append-only, rolled up into `stat`: counters updated in place deadlock under load. */
  stat_delta: StatTable;
  stat: StatTable;
  /** The same but for totals, added up by the hour: in the first minute of each. */
  stat_hour: StatTable;
  /** Of PostgreSQL alone, as is the next. */
  partition: PartitionTable;
  live_event: LiveEventTable;
}

/** What one transaction changed, for those who watch. */
interface LiveEventTable {
  /** Of the transaction: the order in which readers see the rows. */
  xid: number;
  created_at: number;
  /** Each as JSON, a line each. */
  events: string;
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

/** A webhook that came into an inbox. */
interface InboxRequestTable {
  id: string;
  inbox: string;
  received_at: number;
  webhook_id: string;
  /** JSON of an `InboxDelivery`; null of a test webhook. */
  delivery: string | null;
  /** 1 where its signature is right. */
  verified: number;
  /** How it was answered. */
  status: number;
  /** JSON object. */
  headers: string;
  body: string;
  body_bytes: number;
  answer_body: string;
  answer_delay_ms: number;
}

interface ApiKeyTable {
  id: string;
  name: string;
  /** SHA-256 of the whole key, in hex: keys are random, so one hash without salt is enough. */
  hash: string;
  /** JSON arrays. */
  scopes: string;
  cidrs: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
}

/** As `AuditRecord` of the contract. */
interface AuditTable {
  seq: number;
  at: number;
  action: string;
  key_id: string;
  address: string;
  target: string;
  previous_hash: string;
  hash: string;
}

interface StreamTable {
  id: string;
  family: ChainFamily;
  tag: string;
  description: string;
  /** A login in it is sealed by `sealedEndpoints.ts`. */
  webhook_url: string;
  /** JSON array of chain ids. */
  chain_ids: string;
  /** JSON of what to match and send along, as the options of its family. */
  options: string;
  deliver: DeliverMode;
  /** 1 where deliveries of blocks that left the chain are taken back. */
  notify_removed: number;
  /** JSON object: headers of the user's own, sent with each webhook; the values sealed by `sealedEndpoints.ts`. */
  headers: string;
  max_in_flight: number | null;
  max_per_second: number | null;
  /** 1 where its deliveries are sent one at a time, in order. */
  strict_order: number;
  /** The earliest turn that is not taken, of a stream with `max_per_second`; null before the first. */
  next_send_at: number | null;
  /** JSON array of `SealedSecret`, the newest first. */
  secrets: string;
  status: StreamStatus;
  status_message: string;
  /** Since when the status is `error`; null while it is not. */
  error_since: number | null;
  /** When a stream in `error` may be sent one delivery, to see whether its receiver is back. */
  probe_at: number | null;
  /** Why its receiver is sent nothing for a while, as a process that delivers says; null while it is not spared. */
  spared_reason: SparedReason | null;
  spared_since: number | null;
  spared_until: number | null;
  /** Of the certificate its receiver showed, where that was soon; null otherwise. */
  certificate_ends_at: number | null;
  address_count: number;
  /** Value of `rule_revision` at the last change of what the stream matches. */
  revision: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

/** What was done to a stream, or became of it; of each stream the newest. */
interface StreamChangeTable {
  id: string;
  stream_id: string;
  kind: StreamChangeKind;
  /** JSON array of what was edited. */
  fields: string;
  /** Of the API key that did it; empty for the service itself. */
  key_id: string;
  created_at: number;
}

/** From which block on a stream is evaluated on a chain. */
interface CoverageTable {
  stream_id: string;
  chain: string;
  /** Null until the chain is first read. */
  from_block: number | null;
}

/** Blocks that were not evaluated; both ends belong to it. */
interface HoleTable {
  chain: string;
  /** Null for every stream of the chain. */
  stream_id: string | null;
  from_block: number;
  /** Null while it grows. */
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
  /** The next block to be matched; beyond `block_to` once all are. */
  next_block: number;
  state: JobState;
  message: string;
  /** Blocks in which the stream matched. */
  matches: number;
  created_at: number;
  updated_at: number;
}

/** As `OperatorNoticeRow`. */
interface OperatorNoticeTable {
  subject: string;
  state: string;
  told: string;
  id: string;
  body: string | null;
  attempts: number;
  run_at: number;
  sent_at: number | null;
}

/** Deliveries that are sent again. */
interface ReplayTable {
  id: string;
  name: string;
  /** JSON of a `DeliveryFilter`. */
  filter: string;
  per_second: number;
  state: ReplayState;
  total: number;
  replayed: number;
  /** Id of the last delivery that had its turn; empty before the first. */
  position: string;
  /** Greater than every delivery that was there when it was made, and less than those that came later. */
  last_id: string;
  /** The earliest time of the next step. */
  next_at: number;
  /** Id of the API key that asked for it. */
  created_by: string;
  created_at: number;
  updated_at: number;
}

/**
 * Part of its stream's list when the change that added it is `active`, and none that is removed it.
 * Of an address at most one row is.
 */
interface StreamAddressTable {
  stream_id: string;
  /** Lower case. */
  address: string;
  label: string | null;
  /** When the stream began to have it; another label changes nothing of that. */
  added_at: number;
  /** Id of the API key it was added with. */
  key_id: string;
  /** The change that added the row, of the address or of its label. */
  added_by: number;
  removed_by: number | null;
}

interface AddressChangeTable {
  /** Never used again. */
  id: Generated<number>;
  stream_id: string;
  /** At most one of a stream is not `active`. */
  state: 'staging' | 'active' | 'abandoned';
  /** Value of `rule_revision` from which it is active. */
  revision: number | null;
  parts: number;
  /** By how much it changes the number of addresses. */
  delta: number;
  touched_at: number;
}

interface AddressChangePartTable {
  change_id: number;
  part: number;
  kind: 'add' | 'remove';
  /** Bytes of an address. */
  width: 20 | 32;
  /** The addresses one after the other, without `0x`. */
  digits: string;
  /** Rows of `stream_address` that it removed and that are still there. */
  dead: number;
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

/** What one process at a time does. */
interface LeaseTable {
  /** A chain's id: to read it. */
  name: string;
  /** The process that took it last, for people. */
  holder: string;
  /** Raised whenever it is taken: what an earlier holder writes is then refused. */
  epoch: number;
  until: number;
  /** JSON of what its holder last said of the chain. */
  report: string | null;
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

/** What a token contract says of itself, so that it is asked once. */
interface TokenTable {
  chain: string;
  address: string;
  /** Empty where the contract does not say. */
  name: string;
  symbol: string;
  decimals: number | null;
  /** `ERC721`, `ERC1155` or empty. */
  standard: string;
  /** Block it was read at. */
  block_number: number;
  updated_at: number;
}

interface DeliveryTable {
  /** Also the `webhook-id` of each attempt. */
  id: string;
  /** One delivery of a match in each phase: a block read twice delivers once. */
  match_id: string;
  stream_id: string;
  phase: DeliveryPhase;
  chain: string;
  block_number: number;
  block_day: string;
  tag: string;
  /** Logs, transactions and internal transactions. */
  records: number;
  /** As its match's: lists are read from this table alone. */
  about: string;
  state: DeliveryState;
  attempts: number;
  /** Leases taken, counted apart from attempts. */
  claims: number;
  /**
   * Leases on end that ran out: their process died, or worse, died of this delivery. From 2 on it is
   * suspect; what ran out while it was isolated is taken back.
   */
  lost: number;
  /** As the stream's `strict_order`, so that an index holds the queues of such streams alone. */
  ordered: number;
  /** 1 once the quick retry before the schedule was used. */
  fast_retried: number;
  /** Of the body, about: what claims are bounded by. */
  body_bytes: number;
  run_at: number;
  /** The replay that made it due last; null where none did. */
  replay_id: string | null;
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
  /** Of its delivery's block. */
  block_day: string;
  /** Without the login and the values of the query. */
  webhook_url: string;
  started_at: number;
  duration_ms: number;
  status: number | null;
  error: string | null;
  response_body: string;
  /** As `transport.ts` packs it. */
  transport: string | null;
}

/** A partition of each of the tables that `partitions.ts` names. */
interface PartitionTable {
  /** Behind the name of the table, and `_`. */
  name: string;
  from_day: string;
  /** Not itself part of it. */
  to_day: string;
  /** False when no match in it is frozen, and every delivery has ended. */
  open: boolean;
}

/**
 * Counted per minute for two days, per hour for eight: attempts that got a 2xx, with how long they took;
 * those that failed; both by what was answered; those that were not their delivery's first; deliveries
 * that were given up with one; and records when they were matched.
 */
export type ActivityMetric =
  | 'delivered'
  | LatencyMetric
  | 'failed_attempts'
  | AnsweredMetric
  | 'retries'
  | 'given_up'
  | MatchedMetric;

/** By status; `none` where no answer came, or it did not come to its end. */
export type AnsweredMetric = `answered_${number | 'none'}`;

/** By what a record is: as `NewMatch.records` names it. */
export type MatchedMetric = `matched_${string}`;

/**
 * Counted since ever, at minute 0: deliveries in state `succeeded` and `failed`, and the records of
 * those of them that are confirmed. They stay when the rows they were counted from are deleted.
 */
export type TotalMetric =
  | 'webhooks_delivered'
  | 'webhooks_failed'
  | 'logs'
  | 'transactions'
  | 'internal_transactions';

interface StatTable {
  stream_id: string;
  /** Unix minutes; 0 for a total. */
  minute: number;
  chain: string;
  metric: ActivityMetric | TotalMetric;
  n: number;
}
