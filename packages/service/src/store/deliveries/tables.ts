/** Rows of deliveries and attempts. */
import type { DeliveryPhase, DeliveryState } from '@sluice/kit/contract';

export interface DeliveryTables {
  delivery: DeliveryTable;
  attempt: AttemptTable;
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
