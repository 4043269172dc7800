/** One EVM block as the matcher reads it. Quantities stay the hex text of the chain. */
export interface EvmBlock {
  number: number;
  hash: string;
  parentHash: string;
  /** Unix seconds. */
  timestamp: number;
  /** In log order; empty when no stream asked for logs. */
  logs: EvmLog[];
  /** In transaction order; empty when no stream asked for transactions. */
  transactions: EvmTransaction[];
  /** In the order they were made; empty when no stream asked for them, or no node traces. */
  internalTransactions: EvmInternalTransaction[];
  /** Why it was accepted although not everything about it could be verified; absent otherwise. */
  unverified?: string | undefined;
}

export interface EvmLog {
  logIndex: number;
  transactionHash: string;
  transactionIndex: number;
  /** Lower case. */
  address: string;
  topics: string[];
  data: string;
}

export interface EvmTransaction {
  hash: string;
  transactionIndex: number;
  /** Lower case. */
  from: string;
  /** Lower case; null when the transaction creates a contract. */
  to: string | null;
  /** Null, as the gas and the nonce, where the network does not say. */
  value: string | null;
  gas: string | null;
  gasPrice: string | null;
  nonce: string | null;
  input: string;
  type: string | null;
  v: string | null;
  r: string | null;
  s: string | null;
  receipt: EvmReceipt;
}

/** A call inside a transaction that moved value and was not reverted. */
export interface EvmInternalTransaction {
  transactionHash: string;
  transactionIndex: number;
  /** Counted within its transaction, from 0. */
  index: number;
  /** Lower case. */
  from: string;
  /** Lower case; null for a contract whose address the trace does not name. */
  to: string | null;
  value: string;
  gas: string;
}

/** All null where the transaction has no receipt. */
export interface EvmReceipt {
  cumulativeGasUsed: string | null;
  gasUsed: string | null;
  contractAddress: string | null;
  /** Before Byzantium, instead of `status`. */
  root: string | null;
  status: string | null;
}

/** What must be fetched of a block for the streams there are. */
export interface BlockNeeds {
  logs: boolean;
  /** Transactions with their receipts. */
  transactions: boolean;
  traces: boolean;
}
