/** Alerts that the service POSTs to the URL of `--notify-url`. */

interface NoticeOf<Type extends string, Data> {
  type: Type;
  /** When the problem or recovery was detected, ISO 8601. */
  timestamp: string;
  data: Data;
}

/** A stream and its problem. */
interface StreamTrouble {
  streamId: string;
  tag: string;
  /** Human-readable. */
  reason: string;
}

/**
 * - `stream.error`: the receiver fails, so nothing is sent.
 * - `stream.terminated`: it still fails, so nothing is matched either.
 * - `stream.recovered`: the stream is active again.
 * - `delivery.quarantined`: deliveries of the stream are set aside because they crashed their
 *   sender; `count` of them are now, `deliveryId` is the newest.
 * - `chain.halted`: the chain has not been read for at least 30 seconds.
 * - `chain.resumed`: it is read again.
 * - `disk.filling`: at least 80% of the disk of a SQLite ledger is used.
 * - `disk.recovered`: usage is below that again.
 */
export type OperatorNotice =
  | NoticeOf<'stream.error', StreamTrouble>
  | NoticeOf<'stream.terminated', StreamTrouble>
  | NoticeOf<'stream.recovered', { streamId: string; tag: string }>
  | NoticeOf<'delivery.quarantined', StreamTrouble & { deliveryId: string; count: number }>
  | NoticeOf<'chain.halted', { chainId: string; reason: string }>
  | NoticeOf<'chain.resumed', { chainId: string }>
  | NoticeOf<'disk.filling', { reason: string }>
  | NoticeOf<'disk.recovered', Record<string, never>>;
