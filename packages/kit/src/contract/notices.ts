/** What the service tells its operator of by webhook, where it was given a URL for that. */

interface NoticeOf<Type extends string, Data> {
  type: Type;
  /** When it was found, ISO 8601. */
  timestamp: string;
  data: Data;
}

/** A stream, and why. */
interface StreamTrouble {
  streamId: string;
  tag: string;
  /** For people. */
  reason: string;
}

/**
 * - `stream.error`, `stream.terminated`: its receiver fails; nothing is sent any more, or nothing is
 *   matched either.
 * - `stream.recovered`: it is active again.
 * - `delivery.quarantined`: deliveries of the stream were set aside since they killed their sender;
 *   `count` are so now, `deliveryId` is the newest of them.
 * - `chain.halted`: the chain is not read, for half a minute or more.
 * - `chain.resumed`: it is read again.
 * - `disk.filling`: 80 % of the disk of a SQLite ledger is used.
 * - `disk.recovered`: less is.
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
