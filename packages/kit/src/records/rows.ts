/**
 * Row types, one per kind of record. All columns are always present; null usually means that the
 * webhook does not contain the value. Large on-chain numbers are decimal strings.
 */
import type { Abi } from 'abitype';
import type { AbiItem, WebhookTrigger } from '../contract/shapes.generated.ts';
import type { DecodedLogOf, UndecodedReason } from '../webhooks/decode.ts';
import type { ReservedName } from './columns.ts';

/** The columns of every row. */
export interface RowBase {
  /** Primary key: `0x` and 64 hex digits, the same in every delivery of a record. */
  id: string;
  /** Chain id as a number, such as 1 for Ethereum. */
  chainId: number;
  /** Block number; null if the webhook has none. */
  blockNumber: number | null;
  blockHash: string;
  /** Unix time in seconds; null if the webhook has none. */
  blockTimestamp: number | null;
  /**
   * Whether the block is confirmed. The confirmed delivery can arrive first, so never replace true
   * with false.
   */
  confirmed: boolean;
}

interface LogRelated extends RowBase {
  transactionHash: string;
  /** Position of the log in its block. */
  logIndex: number;
}

interface Triggered {
  /** Results of the triggers; null if there are none. */
  triggers: readonly WebhookTrigger[] | null;
}

/** The columns of every decoded log, in addition to its parameters. */
export interface LogColumns extends LogRelated, Triggered {
  /** Name of the event. */
  name: string;
  /** The contract that emitted the log. */
  address: string;
}

/**
 * A decoded log: {@link LogColumns} and a text column per parameter. Integers are decimal,
 * addresses and bytes are lowercase hex, and arrays and tuples are JSON. A reserved name gets the
 * prefix `_` until it is free: `id` becomes `__id`, because `_id` is reserved too.
 */
export interface LogRow extends LogColumns {
  [parameter: string]: string | number | boolean | readonly WebhookTrigger[] | null;
}

/** A log that was not decoded, with the id that it would have if decoded. */
export interface UndecodedLogRow extends LogRelated, Triggered {
  address: string;
  data: string;
  topic0: string | null;
  topic1: string | null;
  topic2: string | null;
  topic3: string | null;
  reason: UndecodedReason;
}

/** A transaction in a webhook. */
export interface TransactionRow extends RowBase, Triggered {
  hash: string;
  transactionIndex: number | null;
  gas: number | null;
  /** Price per unit of gas, in wei. */
  gasPrice: number | null;
  nonce: number | null;
  fromAddress: string;
  /** Recipient; null if the transaction creates a contract. */
  toAddress: string | null;
  /** Amount in wei, as a decimal string. */
  value: string;
  input: string | null;
  type: number | null;
  /** Status: 1 for success, 0 for failure. */
  receiptStatus: number | null;
  receiptGasUsed: number | null;
  receiptCumulativeGasUsed: number | null;
}

/** A call that moved native currency inside a transaction. */
export interface InternalTransactionRow extends RowBase {
  /** Hash of the transaction that contains the call. */
  hash: string;
  /** Position of the call in its transaction; null if the webhook has none. */
  internalTransactionIndex: number | null;
  from: string | null;
  to: string | null;
  /** Amount in wei, as a decimal string. */
  value: string | null;
  gas: number | null;
}

/** A call of a selected function. */
export interface CallRow extends RowBase {
  transactionHash: string;
  transactionIndex: number | null;
  /** Steps in the transaction's tree of calls, such as `0,2`; empty for the transaction itself. */
  traceAddress: string;
  type: string;
  from: string;
  to: string;
  /** Amount in wei, as a decimal string. */
  value: string;
  input: string;
  /** Signature of the function; null if it is unknown. */
  function: string | null;
  /** Arguments as JSON, in the form of the webhook; null if they were not decoded. */
  arguments: string | null;
  /** `success` or `failed`; null if the chain does not report it. */
  status: string | null;
  /** Why the call failed; null for other calls, and if the reason is unknown. */
  reason: string | null;
}

/** A value on chain whose condition holds. */
export interface ReadRow extends RowBase {
  /** Address of the contract that was called; null for a balance. */
  contract: string | null;
  /** Signature of the function; null for a balance. */
  function: string | null;
  /** Arguments as JSON; null if there are none. */
  arguments: string | null;
  /** The output that the stream names; null if it names none. */
  output: string | null;
  /** `native` or the address of a token; null for the result of a function. */
  balance: string | null;
  /** The account of the balance. */
  account: string | null;
  /** The condition of the stream as JSON. */
  condition: string;
  /** Decimals of the value; null if they are unknown. */
  decimals: number | null;
  /** Integers as decimal strings; lists as JSON. */
  value: string;
  /** The last known value before; null if there is none. */
  valueBefore: string | null;
  /** The last block that had the value before. */
  blockNumberBefore: number | null;
}

interface TokenRow extends LogRelated {
  /** Address of the token. */
  contract: string;
  tokenName: string;
  tokenSymbol: string;
}

interface Erc20Row extends TokenRow, Triggered {
  /** Amount in the token's smallest unit, as a decimal string. */
  value: string;
  /** Decimals of the token; null if unknown. */
  tokenDecimals: number | null;
}

/** A transfer of an ERC-20 token. */
export interface Erc20TransferRow extends Erc20Row {
  from: string;
  to: string;
}

/** An approval to spend an ERC-20 token. */
export interface Erc20ApprovalRow extends Erc20Row {
  owner: string;
  spender: string;
}

interface NftRow extends TokenRow {
  /** Token standard: `ERC721`, `ERC1155`, `ERC6909`, or an empty string if unknown. */
  tokenContractType: string;
}

/** A transfer of an NFT or of consecutive NFTs, or one entry of an ERC-1155 batch transfer. */
export interface NftTransferRow extends NftRow, Triggered {
  /** The account that moved the NFT; null for ERC-721 and ERC-2309. */
  operator: string | null;
  from: string;
  to: string;
  /** Token id as a decimal string. */
  tokenId: string;
  /** Last token id of a range that begins at `tokenId` (ERC-2309); null for a single token. */
  toTokenId: string | null;
  /** Number of tokens as a decimal string. */
  amount: string;
}

/** An approval for one NFT, or for all NFTs that an owner has in a collection. */
export interface NftApprovalRow extends NftRow {
  account: string;
  operator: string;
  approvedAll: boolean;
  /** Token id as a decimal string; null for an approval of all tokens. */
  tokenId: string | null;
}

/** The native balance of an account after a block. */
export interface NativeBalanceRow extends RowBase {
  account: string;
  /** Amount in wei, as a decimal string. */
  balance: string;
}

/** The rows of one webhook by kind, in the order of the webhook. */
export interface Records<Log = LogRow> {
  /** Collection name, derived from the tag of the stream: `MyToken` for `my-token`. */
  collectionName: string;
  logs: Log[];
  /** Logs that could not be decoded; all logs if there is no ABI. */
  undecodedLogs: UndecodedLogRow[];
  txs: TransactionRow[];
  internalTxs: InternalTransactionRow[];
  /** Calls of a stream that selects functions. */
  calls: CallRow[];
  /** Values on chain of a stream that reads them. */
  reads: ReadRow[];
  erc20Transfers: Erc20TransferRow[];
  erc20Approvals: Erc20ApprovalRow[];
  nftTransfers: NftTransferRow[];
  nftApprovals: NftApprovalRow[];
  /** Native balances of a stream that requests them. */
  nativeBalances: NativeBalanceRow[];
}

/**
 * The row of a log decoded with an `as const` ABI: a union over the events of the ABI,
 * discriminated by `name`.
 */
export type LogRowOf<A extends Abi | readonly AbiItem[]> = RowOf<DecodedLogOf<A>>;

type RowOf<Log> = Log extends { readonly name: infer Name; readonly args: infer Args }
  ? string extends keyof Args
    ? LogRow
    : Flat<
        Omit<LogColumns, 'name'> & { name: Name } & {
          -readonly [Parameter in keyof Args & string as ColumnName<Parameter>]: string;
        }
      >
  : never;

type ColumnName<Name extends string> = Name extends ReservedName ? ColumnName<`_${Name}`> : Name;

type Flat<T> = { [K in keyof T]: T[K] };
