/**
 * The body of an Aptos webhook and of its records. Numbers of the chain are
 * decimal strings but where the contract shows a number. Addresses are `0x` and 64 hex digits, but
 * inside `changes`, `payloads` and `events`, which are as the node gave them.
 */
import type { AptosNetwork } from './aptos.ts';

/** The block that a webhook is about. */
export interface AptosWebhookBlock {
  /** Height, decimal; empty in the test webhook. */
  number: string;
  /** Unix time in microseconds, decimal. */
  timestamp: string;
  hash: string;
  /** Ledger versions of the block's first and last transaction, decimal. */
  firstVersion: string;
  lastVersion: string;
}

/** What is known of a coin or fungible asset. */
export interface AptosCoin {
  /** Null where the chain does not say. */
  decimals: number | null;
  /** Empty where the chain does not say. Anybody may give a coin any name: see `type`. */
  name: string;
  symbol: string;
  /**
   * Ours: which asset it is, since names may be borrowed. Of a coin its Move type, its address with
   * all 64 digits; of a fungible asset the address of its metadata; empty where the
   * transaction does not show it.
   */
  type: string;
}

/** A coin or fungible asset that came to an account, or left it. */
export interface AptosCoinMovement {
  /** In the smallest unit, decimal. */
  value: string;
  address: string;
  coin: AptosCoin;
  /** The nearest JSON number, as the hosted service sends; `value` is exact. Null without decimals. */
  valueWithDecimals: number | null;
  /** Of the event that tells of it; `0` for the events that are not counted. */
  sequenceNumber: string;
  txHash: string;
}

/** A payment by `0x1::coin::transfer` or `0x1::aptos_account::transfer`. */
export interface AptosCoinTransfer {
  coin: AptosCoin;
  to: string;
  /** In the smallest unit, decimal. */
  value: string;
  from: string;
  /** As in {@link AptosCoinMovement}. */
  valueWithDecimals: number | null;
  /** Hash of the transaction; the contract has it under both names. */
  transaction: string;
  txHash: string;
}

/** A transaction that the stream matched. */
export interface AptosWebhookTransaction {
  gasLimit: string;
  gasUnitPrice: string;
  gasUsed: string;
  hash: string;
  stateChangeHash: string;
  eventChangeHash: string;
  success: boolean;
  /** E.g. `user_transaction`. */
  type: string;
  /** Empty for transactions that nobody signed, such as `block_metadata_transaction`. */
  sender: string;
}

/** Something as the node gave it, with the hash of its transaction. */
export interface AptosRaw {
  [field: string]: unknown;
  txHash: string;
}

/** One delivery: everything of one block that one Aptos stream matched. Keys stand in wire order. */
export interface AptosWebhook {
  /** Empty in the test webhook. */
  streamId: string;
  tag: string;
  /** Empty in the test webhook. */
  network: AptosNetwork | '';
  block: AptosWebhookBlock;
  /** 0 on the first attempt, one more with each retry. */
  retries: number;
  coinTransfers: AptosCoinTransfer[];
  /** What came to accounts in the matched transactions, whoever watches them. */
  coinDeposits: AptosCoinMovement[];
  coinWithdrawals: AptosCoinMovement[];
  transactions: AptosWebhookTransaction[];
  /** Empty without `includeChanges`. */
  changes: AptosRaw[];
  /** Empty without `includePayload`. */
  payloads: AptosRaw[];
  /** A list for each of `transactions`, in their order; empty without `includeEvents`. */
  events: AptosRaw[][];
}

/** The body sent once to a new URL of an Aptos stream before it is accepted: every key, each empty. */
export const TEST_APTOS_WEBHOOK: AptosWebhook = {
  streamId: '',
  tag: '',
  network: '',
  block: { number: '', timestamp: '', hash: '', firstVersion: '', lastVersion: '' },
  retries: 0,
  coinTransfers: [],
  coinDeposits: [],
  coinWithdrawals: [],
  transactions: [],
  changes: [],
  payloads: [],
  events: [],
};
