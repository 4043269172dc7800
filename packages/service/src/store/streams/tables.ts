/** Rows of streams and of their changes. */
import type {
  ChainFamily,
  DeliverMode,
  SparedReason,
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
