/** History (webhooks that could not be delivered) and delivery logs. */
import type { EvmWebhook } from './webhook.ts';

/** A webhook that could not be delivered, EVM or Aptos. */
export interface HistoryRecord {
  id: string;
  /** ISO 8601. */
  date: string;
  /**
   * The webhook as it was to be sent; absent with `excludePayload`. One of an Aptos stream has other
   * fields.
   */
  payload?: Partial<EvmWebhook> & Readonly<Record<string, unknown>>;
  tinyPayload: {
    chainId: string;
    confirmed: boolean;
    /** Number of the block, decimal. */
    block: string;
    /** Transactions, logs and internal transactions in the webhook. */
    records: number;
    retries: number;
  };
  errorMessage: string;
  /** Login and values of the query are `***`. */
  webhookUrl: string;
  streamId: string;
  tag: string;
}

/** How an attempt to deliver ended. */
export type DeliveryStatus = 'failed' | 'success';

/** A webhook that was attempted, and how the last attempt ended. */
export interface DeliveryLog {
  id: string;
  streamId: string;
  /** Chain id in hex; of an Aptos network one of `APTOS_CHAINS`. */
  chain: string;
  /** Login and values of the query are `***`. */
  webhookUrl: string;
  tag: string;
  retries: number;
  deliveryStatus: DeliveryStatus;
  blockNumber: number;
  errorMessage: string;
  type: 'evm' | 'aptos';
  /** ISO 8601. */
  createdAt: string;
  /** ISO 8601. */
  updatedAt?: string;
}

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
