/** An EVM block in the matcher's form. Quantities stay in the chain's hex form. */
export interface EvmBlock {
  number: number;
  hash: string;
  parentHash: string;
  /** Time in Unix seconds. */
  timestamp: number;
  /** Logs in log order; empty if no stream needs logs. */
  logs: EvmLog[];
  /** Transactions in transaction order; empty if no stream needs transactions. */
  transactions: EvmTransaction[];
  /**
   * Internal transactions in execution order; empty if no stream needs them, or no node supports
   * traces.
   */
  internalTransactions: EvmInternalTransaction[];
  /** The reason why an unverified block was accepted; undefined for verified blocks. */
  unverified?: string | undefined;
  /** Set for a proven block if a stream includes proofs. */
  proofs?: BlockProofs | undefined;
}

export interface BlockProofs {
  /** The RLP-encoded header, in hex. */
  header: string;
  /** Returns the nodes of the receipts trie from the root to this transaction's receipt, in hex. */
  prove(transactionIndex: number): string[];
}

export interface EvmLog {
  logIndex: number;
  transactionHash: string;
  transactionIndex: number;
  /** Lowercase. */
  address: string;
  topics: string[];
  data: string;
}

export interface EvmTransaction {
  hash: string;
  transactionIndex: number;
  /** Lowercase. */
  from: string;
  /** Receiver in lowercase; null if the transaction creates a contract. */
  to: string | null;
  /** Null if the network omits it, like gas and nonce. */
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
  /** Position within its transaction, from 0. */
  index: number;
  /** Lowercase. */
  from: string;
  /** Receiver in lowercase; null for a contract with an address that is not in the trace. */
  to: string | null;
  value: string;
  gas: string;
}

/** Fields of the receipt; all null without one. */
export interface EvmReceipt {
  cumulativeGasUsed: string | null;
  gasUsed: string | null;
  contractAddress: string | null;
  /** Replaces `status` before Byzantium. */
  root: string | null;
  status: string | null;
}

/** The parts of a block that current streams need. */
export interface BlockNeeds {
  logs: boolean;
  /** Transactions, including their receipts. */
  transactions: boolean;
  traces: boolean;
  /** Proofs of the receipts. Default: false. */
  proofs?: boolean | undefined;
}
