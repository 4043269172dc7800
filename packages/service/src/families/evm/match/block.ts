import type { CALL_TYPES } from '@sluice/kit/contract';
import type { CallFailure } from '../base/callFailure.ts';
import type { Unverified } from '../../../store/blocks/contract.ts';

/**
 * An EVM block as the matcher reads it. Quantities that are strings stay in the node's hex form.
 */
export interface EvmBlock {
  number: number;
  hash: string;
  parentHash: string;
  /** Time in Unix seconds. */
  timestamp: number;
  /** Logs in log order; empty if no stream needs logs or transactions. */
  logs: EvmLog[];
  /** Transactions in transaction order; empty if no stream needs transactions. */
  transactions: EvmTransaction[];
  /**
   * Internal transactions in execution order; empty if no stream needs them, or no node supports
   * traces.
   */
  internalTransactions: EvmInternalTransaction[];
  /**
   * Calls inside transactions in execution order, with or without value, and also those that were
   * undone; undefined if no stream needs them, or no node supports traces.
   */
  calls?: EvmCall[] | undefined;
  /**
   * Hashes of the transactions whose trace was read; undefined if no stream needs traces, or no node
   * supports them.
   */
  traced?: readonly string[] | undefined;
  /** Failures of transactions by hash, from the same traces. */
  failures?: ReadonlyMap<string, CallFailure> | undefined;
  /** Marks of the gaps in the evidence; undefined if the block is verified. */
  unverified?: Unverified | undefined;
  /** Proofs of the receipts; set if a stream includes proofs and the block is proven. */
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
  /** Recipient in lowercase; null if the transaction creates a contract. */
  to: string | null;
  /**
   * Transferred value; null if the chain omits it. The same applies to the other nullable fields
   * below.
   */
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

/**
 * A call, contract creation or self-destruct that moved value inside a transaction, and was not
 * reverted.
 */
export interface EvmInternalTransaction {
  transactionHash: string;
  transactionIndex: number;
  /** Position among the internal transactions of its transaction, from 0. */
  index: number;
  /** Lowercase. */
  from: string;
  /** Recipient in lowercase; null for a created contract whose address is not in the trace. */
  to: string | null;
  value: string;
  /** Null if the trace omits it. */
  gas: string | null;
}

/** A call of a transaction: its own, or one inside it. */
export interface EvmCall {
  transactionHash: string;
  transactionIndex: number;
  /**
   * Position in the tree of calls: `[0, 2]` is the third call of the first call inside the
   * transaction. Empty for the transaction's own call.
   */
  traceAddress: readonly number[];
  type: CallType;
  /** Lowercase. */
  from: string;
  /** Address whose code runs, in lowercase. */
  to: string;
  value: string;
  input: string;
  /** Whether it, or an enclosing call, failed; null if the receipt has no status. */
  isFailed: boolean | null;
  /** Why it failed itself; undefined if it did not, or without a trace. */
  failure?: CallFailure | undefined;
}

export type CallType = (typeof CALL_TYPES)[number];

/** Fields of a transaction's receipt; all null without a receipt. */
export interface EvmReceipt {
  cumulativeGasUsed: string | null;
  gasUsed: string | null;
  contractAddress: string | null;
  /** State root, which receipts before Byzantium have instead of `status`. */
  root: string | null;
  status: string | null;
  /** Null if the node does not return the price, or returns it in an unknown form. */
  fee: EvmFee | null;
}

/** Prices of a transaction, as the node returns them; no root of the header covers them. */
export interface EvmFee {
  /** Price per unit of gas. */
  price: string;
  /** Fee for the data on the parent chain, which rollups such as the OP Stack add; `0x0` if none. */
  l1Fee: string;
}
