import type {
  ChainFamily,
  DeliverMode,
  BackOffReason,
  StreamChangeKind,
  StreamStatus,
} from '@sluice/kit/contract';
import type { ConfirmBy } from './blocks.ts';

export interface StreamTables {
  stream: StreamTable;
  stream_change: StreamChangeTable;
}

/** A secret, encrypted by `vault.ts`. Times are Unix milliseconds on the ledger's clock. */
export interface SealedSecret {
  sealed: string;
  createdAt: number;
  /** Time at which the secret stops signing; null for the current secret. */
  endsAt: number | null;
}

interface StreamTable {
  /** Id of the stream, or of the lane of an additional destination, as in `laneIds.ts`. */
  id: string;
  /**
   * The stream whose webhooks the row also receives; null for a stream. Such a row has the URL,
   * limits and state of an additional destination, copies of other settings of its stream
   * (`destinations.ts`), and neither chains nor addresses.
   */
  destination_of: string | null;
  family: ChainFamily;
  tag: string;
  description: string;
  /** Webhook URL, in which `endpoints.ts` has encrypted the login, if there is one. */
  webhook_url: string;
  /** JSON array of chain ids. */
  chain_ids: string;
  /** JSON of `StreamOptions` or, on Aptos, of `AptosStreamOptions`. */
  options: string;
  deliver: DeliverMode;
  /** The condition that confirms matches of the stream. */
  confirm_by: ConfirmBy;
  /** Number of blocks that must follow with `depth`; otherwise 0. */
  confirm_depth: number;
  /** 1 if removal webhooks are sent for blocks that left the chain. */
  notify_removed: number;
  /** 1 if deliveries of unverified blocks are held until a second witness confirms the block. */
  hold_unverified: number;
  /**
   * JSON object of the custom headers of each webhook, with values that `endpoints.ts` has
   * encrypted.
   */
  headers: string;
  /**
   * JSON of `OAuth2Credentials`, with a client secret that `endpoints.ts` has encrypted; null
   * if the receiver needs no access token.
   */
  oauth2: string | null;
  max_in_flight: number | null;
  max_per_second: number | null;
  /** 1 if deliveries are sent one at a time, in order of creation. */
  strict_order: number;
  timeout_seconds: number | null;
  /** JSON of `Retries`. */
  retries: string;
  /**
   * Earliest time of the next send, for a stream with `max_per_second`; null before the first one.
   */
  next_send_at: number | null;
  /** JSON array of `SealedSecret`, newest first. */
  secrets: string;
  status: StreamStatus;
  status_message: string;
  /**
   * Time at which the status became `error`. Kept when the service terminates the stream; null for
   * any other status.
   */
  error_since: number | null;
  /** Earliest time of the next probe of a stream in `error`; null for any other status. */
  probe_at: number | null;
  /**
   * Reason for the back-off, as reported by a process that delivers; null if the receiver is not
   * backed off.
   */
  back_off_reason: BackOffReason | null;
  back_off_since: number | null;
  back_off_until: number | null;
  /** Expiry time of the receiver's certificate if it expires soon; otherwise null. */
  certificate_ends_at: number | null;
  address_count: number;
  /**
   * Rule revision of the last change that matchers must read. Address changes are not included,
   * because they have their own revisions.
   */
  revision: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

/** An edit or status change of a stream. Only the newest 100 are kept per stream. */
interface StreamChangeTable {
  id: string;
  stream_id: string;
  kind: StreamChangeKind;
  /** JSON array of the names of the edited fields. */
  fields: string;
  /** Id of the API key that made the change; empty if the service itself made it. */
  key_id: string;
  created_at: number;
}
