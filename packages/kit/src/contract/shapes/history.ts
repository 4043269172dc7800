/** History (webhooks that could not be delivered) and delivery logs. */

/** How an attempt to deliver ended. */
export type DeliveryStatus = 'failed' | 'success';

/** Which rows of the history to list; absent means all. A page's size and place come beside it. */
export interface HistoryFilter {
  /** Leaves `payload` out of each row. */
  excludePayload?: boolean | undefined;
  streamId?: string | undefined;
  transactionHash?: string | undefined;
  /** Chain ids in hex. */
  chainId?: string[] | undefined;
  blockNumber?: number[] | undefined;
  /**
   * When the webhook was made, this time included: Unix seconds, or milliseconds (from 10^11 on).
   * Ours; the hosted service does not say which.
   */
  fromTimestamp?: number | undefined;
  toTimestamp?: number | undefined;
}

/** Which delivery logs to list; absent means all. */
export interface LogFilter extends Omit<HistoryFilter, 'excludePayload'> {
  deliveryStatus?: DeliveryStatus[] | undefined;
}
