/** Rows of streams and of their changes. */
import type {
  ChainFamily,
  DeliverMode,
  BackOffReason,
  StreamChangeKind,
  StreamStatus,
} from '@sluice/kit/contract';

export interface StreamTables {
  stream: StreamTable;
  stream_change: StreamChangeTable;
}

interface StreamTable {
  id: string;
  family: ChainFamily;
  tag: string;
  description: string;
  /** A login in it is encrypted by `sealedEndpoints.ts`. */
  webhook_url: string;
  /** JSON array of chain ids. */
  chain_ids: string;
  /** JSON of what to match and include, as the options of its family. */
  options: string;
  deliver: DeliverMode;
  /** 1 if removal webhooks are sent for blocks that left the chain. */
  notify_removed: number;
  /**
   * JSON object: custom headers sent with each webhook, with values encrypted by
   * `sealedEndpoints.ts`.
   */
  headers: string;
  max_in_flight: number | null;
  max_per_second: number | null;
  /** 1 if its deliveries are sent one at a time, in order. */
  strict_order: number;
  /** The earliest free turn of a stream with `max_per_second`; null before the first. */
  next_send_at: number | null;
  /** JSON array of `SealedSecret`, newest first. */
  secrets: string;
  status: StreamStatus;
  status_message: string;
  /** Since when the status is `error`; null otherwise. */
  error_since: number | null;
  /** When a stream in `error` may next send one delivery to check whether its receiver is back. */
  probe_at: number | null;
  /** Why its receiver is backed off, as reported by a process that delivers; null otherwise. */
  back_off_reason: BackOffReason | null;
  back_off_since: number | null;
  back_off_until: number | null;
  /** When the receiver's certificate expires, if soon; null otherwise. */
  certificate_ends_at: number | null;
  address_count: number;
  /** Value of `rule_revision` at the last change of what the stream matches. */
  revision: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

/** An edit or a change of status of a stream; the newest are kept. */
interface StreamChangeTable {
  id: string;
  stream_id: string;
  kind: StreamChangeKind;
  /** JSON array of edited fields. */
  fields: string;
  /** Id of the API key that made the change; empty for the service itself. */
  key_id: string;
  created_at: number;
}
