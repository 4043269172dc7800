/** Tables of deliveries and attempts. */
import type { DeliveryPhase, DeliveryState } from '@sluice/kit/contract';

export interface DeliveryTables {
  delivery: DeliveryTable;
  attempt: AttemptTable;
}

/** State of a delivery in the ledger. A pending one with attempts is `retrying` elsewhere. */
export type StoredState = Exclude<DeliveryState, 'retrying'>;

interface DeliveryTable {
  /** Sent as `webhook-id` with each attempt. */
  id: string;
  /**
   * A match has at most one delivery per phase, so a block that is read twice is delivered only
   * once.
   */
  match_id: string;
  stream_id: string;
  phase: DeliveryPhase;
  chain: string;
  block_number: number;
  block_day: string;
  tag: string;
  /** Number of logs, transactions and internal transactions. */
  records: number;
  /** Copied from the match, so that lists read only this table. */
  about: string;
  state: StoredState;
  attempts: number;
  /**
   * Number of times that the delivery was leased, including leases that ended without an attempt.
   */
  claims: number;
  /**
   * Number of leases lost in a row, possibly because this delivery crashed the process;
   * losses during isolation do not count. With two or more, the delivery is suspect.
   */
  lost: number;
  /**
   * Copied from the stream's `strict_order`, so that an index can contain only the deliveries of
   * streams in strict order.
   */
  ordered: number;
  /** 1 if the fast retry before the schedule was used or is the next attempt. */
  fast_retried: number;
  /** Approximate size of the body in bytes, which limits claims. */
  body_bytes: number;
  run_at: number;
  /** Position in the feed of its stream; null if the stream has none, or before it is placed. */
  feed_position: number | null;
  /**
   * Id of the last bulk replay; empty if the delivery was only replayed manually, null if it was
   * never replayed.
   */
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
  /** Day of the delivery's block. */
  block_day: string;
  /** URL without the login and the values of the query parameters. */
  webhook_url: string;
  started_at: number;
  duration_ms: number;
  status: number | null;
  error: string | null;
  response_body: string;
  /** How the attempt reached its receiver, as packed by `packTransport`; null for most attempts. */
  transport: string | null;
}
