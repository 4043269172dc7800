/** Tables of deliveries and attempts. */
import type { DeliveryPhase, DeliveryState } from '@sluice/kit/contract';

export interface DeliveryTables {
  delivery: DeliveryTable;
  attempt: AttemptTable;
}

interface DeliveryTable {
  /** Also the `webhook-id` of each attempt. */
  id: string;
  /** A match has one delivery per phase, so that a block that is read twice is delivered once. */
  match_id: string;
  stream_id: string;
  phase: DeliveryPhase;
  chain: string;
  block_number: number;
  block_day: string;
  tag: string;
  /** Number of logs, transactions and internal transactions. */
  records: number;
  /** Copied from its match, so that lists read only this table. */
  about: string;
  state: DeliveryState;
  attempts: number;
  /** Number of leases, counted separately from attempts. */
  claims: number;
  /**
   * Number of consecutive expired leases, possibly because this delivery crashed the process; not
   * counted during isolation. With two or more, the delivery is suspect.
   */
  lost: number;
  /**
   * Copied from the stream's `strict_order`, so that an index contains only the queues of such
   * streams.
   */
  ordered: number;
  /** 1 after the fast retry before the schedule was used. */
  fast_retried: number;
  /** Approximate size of the body, which limits claims. */
  body_bytes: number;
  run_at: number;
  /** The last replay that made it due; null if there was none. */
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
  /** URL without the login and the values of the query. */
  webhook_url: string;
  started_at: number;
  duration_ms: number;
  status: number | null;
  error: string | null;
  response_body: string;
  /** Transport, packed by `transport.ts`. */
  transport: string | null;
}
