/**
 * The rows, one shape per kind. Every column is always there: null is what the webhook does not say.
 * Numbers of the chain that can be large are decimal strings.
 */
import type { Abi } from 'abitype';
import type { AbiItem, WebhookTrigger } from '../contract/shapes.generated.ts';
import type { DecodedLogOf, UndecodedReason } from '../webhooks/decode.ts';
import type { ReservedName } from './columns.ts';

/** The columns of every row. */
export interface RowBase {
  /** `0x` and 64 hex digits: the same for the same record in every delivery. The primary key. */
  id: string;
  /** Decimal: `1` is Ethereum. */
  chainId: number;
  /** Null where the webhook has none. */
  blockNumber: number | null;
  blockHash: string;
  /** Unix time in seconds; null where the webhook has none. */
  blockTimestamp: number | null;
  /**
   * Whether the block has its confirmations. The confirmed delivery can come first: never let a row
   * with false replace one with true.
   */
  confirmed: boolean;
}

interface LogRelated extends RowBase {
  transactionHash: string;
  /** Position of the log in its block. */
  logIndex: number;
}

interface Triggered {
  /** What the triggers of the stream answered; null without any. */
  triggers: readonly WebhookTrigger[] | null;
}

/** The columns of every decoded log, beside those of its parameters. */
export interface LogColumns extends LogRelated, Triggered {
  /** The event's name. */
  name: string;
  /** The contract that emitted it. */
  address: string;
}

/**
 * A decoded log: {@link LogColumns} and a column per parameter, as text: integers decimal, booleans
 * `true` or `false`, addresses and bytes lower-case hex, arrays and tuples JSON with integers as text.
 * A parameter with a reserved name has `_` before it: `_id` is reserved, so `id` becomes `__id`.
 */
export interface LogRow extends LogColumns {
  [parameter: string]: string | number | boolean | readonly WebhookTrigger[] | null;
}

/** A log that the ABI does not know, as it came: nothing is lost, and its id is the one it would have decoded. */
export interface UndecodedLogRow extends LogRelated, Triggered {
  address: string;
  data: string;
  topic0: string | null;
  topic1: string | null;
  topic2: string | null;
  topic3: string | null;
  reason: UndecodedReason;
}

/** A transaction. */
export interface TxRow extends RowBase, Triggered {
  hash: string;
  transactionIndex: number | null;
  gas: number | null;
  /** Wei. */
  gasPrice: number | null;
  nonce: number | null;
  fromAddress: string;
  /** Null when the transaction creates a contract. */
  toAddress: string | null;
  /** Wei, decimal. */
  value: string;
  input: string | null;
  type: number | null;
  /** 1 succeeded, 0 failed. */
  receiptStatus: number | null;
  receiptGasUsed: number | null;
  receiptCumulativeGasUsed: number | null;
}

/** A call inside a transaction that moved native currency. */
export interface InternalTxRow extends RowBase {
  /** Of the transaction it is part of. */
  hash: string;
  /** Position among the internal transactions of its transaction; null where the webhook has none. */
  internalTransactionIndex: number | null;
  from: string | null;
  to: string | null;
  /** Wei, decimal. */
  value: string | null;
  gas: number | null;
}

interface TokenRow extends LogRelated {
  /** The token. */
  contract: string;
  tokenName: string;
  tokenSymbol: string;
}

interface Erc20Row extends TokenRow, Triggered {
  /** In the token's smallest unit, decimal. */
  value: string;
  /** Null where unknown. */
  tokenDecimals: number | null;
}

/** A transfer of an ERC-20 token. */
export interface Erc20TransferRow extends Erc20Row {
  from: string;
  to: string;
}

/** An approval of an ERC-20 token. */
export interface Erc20ApprovalRow extends Erc20Row {
  owner: string;
  spender: string;
}

interface NftRow extends TokenRow {
  /** `ERC721`, `ERC1155`, or empty where unknown. */
  tokenContractType: string;
}

/** A transfer of an NFT; of an ERC-1155 batch, one entry. */
export interface NftTransferRow extends NftRow, Triggered {
  /** Who moved it; null for ERC-721. */
  operator: string | null;
  from: string;
  to: string;
  /** Decimal. */
  tokenId: string;
  /** Decimal. */
  amount: string;
}

/** An approval of one NFT, or of all of an owner. */
export interface NftApprovalRow extends NftRow {
  account: string;
  operator: string;
  approvedAll: boolean;
  /** Decimal; null for an approval of all tokens. */
  tokenId: string | null;
}

/** The rows of one webhook by kind, each in the order of the webhook. */
export interface Records<Log = LogRow> {
  /** From the tag of the stream: `my-token` is `MyToken`. */
  collectionName: string;
  logs: Log[];
  /** With every log when the webhook has no ABI. */
  undecodedLogs: UndecodedLogRow[];
  txs: TxRow[];
  internalTxs: InternalTxRow[];
  erc20Transfers: Erc20TransferRow[];
  erc20Approvals: Erc20ApprovalRow[];
  nftTransfers: NftTransferRow[];
  nftApprovals: NftApprovalRow[];
}

/** The row of a log of an `as const` ABI: a union over its events, told apart by `name`. */
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
