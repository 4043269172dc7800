/** The rows of Aptos webhooks. */

/** The columns of every Aptos row. */
export interface AptosRowBase {
  /** Primary key: `0x` and 64 hex digits, the same in every delivery of a record. */
  id: string;
  /** Network, such as `mainnet`. */
  network: string;
  blockNumber: number;
  blockHash: string;
  /** Unix time in microseconds. */
  blockTimestamp: number;
  transactionHash: string;
}

/** A transaction in a webhook. */
export interface AptosTransactionRow extends AptosRowBase {
  type: string;
  sender: string;
  success: boolean;
  gasUsed: string;
  gasUnitPrice: string;
  gasLimit: string;
}

interface AptosValueRow extends AptosRowBase {
  /** Amount in the smallest unit, as a decimal string. */
  value: string;
  /** The coin type or metadata address of the asset; empty if unknown. */
  coinType: string;
  coinName: string;
  coinSymbol: string;
  coinDecimals: number | null;
}

/** A deposit or withdrawal of a coin. */
export interface AptosMovementRow extends AptosValueRow {
  address: string;
  sequenceNumber: string;
}

/** A payment by a function of the framework, such as `0x1::aptos_account::transfer`. */
export interface AptosTransferRow extends AptosValueRow {
  from: string;
  to: string;
}

/** An event, with its data as JSON. */
export interface AptosEventRow extends AptosRowBase {
  /** Position among the webhook's events of the same transaction, from 0. */
  eventIndex: number;
  type: string;
  data: string;
}

/** The rows of an Aptos webhook, by kind. */
export interface AptosRecords {
  /** Collection name, which is derived from the tag of the stream. */
  collectionName: string;
  transactions: AptosTransactionRow[];
  coinTransfers: AptosTransferRow[];
  coinDeposits: AptosMovementRow[];
  coinWithdrawals: AptosMovementRow[];
  events: AptosEventRow[];
}
