/** Tables of streams and their changes. */
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
  /** Webhook URL. `sealedEndpoints.ts` encrypts its login. */
  webhook_url: string;
  /** JSON array of chain ids. */
  chain_ids: string;
  /** JSON of the options of its chain family. */
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
  /** Earliest free turn of a stream with `max_per_second`; null before the first one. */
  next_send_at: number | null;
  /** JSON array of `SealedSecret`, newest first. */
  secrets: string;
  status: StreamStatus;
  status_message: string;
  /** Time since which the status is `error`; null otherwise. */
  error_since: number | null;
  /** Time of the next delivery that checks the receiver of a stream in `error`. */
  probe_at: number | null;
  /**
   * Reason for the back-off of its receiver, as reported by a delivering process; null otherwise.
   */
  back_off_reason: BackOffReason | null;
  back_off_since: number | null;
  back_off_until: number | null;
  /** Expiry of the receiver's certificate, if it is soon; null otherwise. */
  certificate_ends_at: number | null;
  address_count: number;
  /** Value of `rule_revision` at the last change of the stream's rules. */
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
