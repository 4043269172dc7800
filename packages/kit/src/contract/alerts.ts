/** Alerts that the service POSTs to the URL of `--notify-url`, and to alert URLs added later. */

interface AlertOf<Type extends string, Data> {
  type: Type;
  /** Time at which the problem or recovery was detected, in ISO 8601. */
  timestamp: string;
  data: Data;
}

/** A stream and its problem. */
interface StreamProblem {
  streamId: string;
  /** Number of the additional destination; absent for the `webhookUrl`. */
  destination?: number;
  tag: string;
  /** Human-readable. */
  reason: string;
}

/**
 * An alert, by `type`:
 * - `stream.error`: the receiver fails, so sending has stopped.
 * - `stream.terminated`: the receiver still fails, so matching has stopped as well.
 * - `stream.recovered`: the stream is active again.
 * - `delivery.quarantined`: deliveries of the stream are set aside because sending them fails in
 *   the service itself; `count` is their number, `deliveryId` the newest one.
 * - `feed.expiring`: deliveries that a consumer has not acknowledged expire within a day, or within
 *   half of their retention if that is shorter; `oldestAt` is when the first of them was created.
 * - `feed.recovered`: the consumer has acknowledged them, or has missed them.
 * - `chain.halted`: the chain has not been read for at least 30 seconds.
 * - `chain.resumed`: the chain is read again.
 * - `disk.filling`: the disk of a SQLite ledger has less than four times `--min-free-mib` left, or
 *   will fall below `--min-free-mib` within a day.
 * - `disk.recovered`: neither condition of `disk.filling` is met any longer.
 * - `client-certificate.expiring`: the certificate of `--client-cert` expires within 14 days.
 * - `client-certificate.renewed`: the certificate was replaced.
 * - `alert.test`: the operator tests the URL.
 */
export type Alert =
  | AlertOf<'stream.error', StreamProblem>
  | AlertOf<'stream.terminated', StreamProblem>
  | AlertOf<'stream.recovered', Omit<StreamProblem, 'reason'>>
  | AlertOf<'delivery.quarantined', StreamProblem & { deliveryId: string; count: number }>
  | AlertOf<'feed.expiring', StreamProblem & { consumer: string; oldestAt: string }>
  | AlertOf<'feed.recovered', Omit<StreamProblem, 'reason'> & { consumer: string }>
  | AlertOf<'chain.halted', { chainId: string; reason: string }>
  | AlertOf<'chain.resumed', { chainId: string }>
  | AlertOf<'disk.filling', { reason: string }>
  | AlertOf<'disk.recovered', Record<string, never>>
  | AlertOf<'client-certificate.expiring', { reason: string }>
  | AlertOf<'client-certificate.renewed', Record<string, never>>
  | AlertOf<'alert.test', Record<string, never>>;
