/**
 * The shapes of EVM streams on the wire. Plain types, so that a client can
 * import them without a schema library; `schemas.ts` checks the same shapes at run time, and the
 * compiler holds the two equal.
 */

/** A parameter of an {@link AbiItem}. */
export interface AbiParameter {
  name: string;
  type: string;
  indexed?: boolean | undefined;
  components?: readonly AbiParameter[] | undefined;
  internalType?: string | undefined;
}

/** An item of an ABI, in the JSON form that compilers write. */
export interface AbiItem {
  type: string;
  name?: string | undefined;
  inputs?: readonly AbiParameter[] | undefined;
  outputs?: readonly AbiParameter[] | undefined;
  anonymous?: boolean | undefined;
  constant?: boolean | undefined;
  payable?: boolean | undefined;
  stateMutability?: string | undefined;
  gas?: number | undefined;
  /** The selector or topic, as web3.js writes it beside an item. Nothing goes by it. */
  signature?: string | undefined;
}

/** `error` and `terminated` are set by a service, never asked for. */
export type StreamStatus = 'active' | 'paused' | 'error' | 'terminated';

/** The kinds of records that triggers and native balances are attached to. */
export type RecordKind =
  | 'tx'
  | 'log'
  | 'erc20transfer'
  | 'erc20approval'
  | 'nfttransfer'
  | 'internalTx';

/** A filter on one event; grammar in `docs/filter.md`. */
export interface AdvancedOption {
  topic0: string;
  filter?: Record<string, unknown> | undefined;
  includeNativeTxs?: boolean | undefined;
}

/** Whose native balance to read at the block; `selectors` such as `$fromAddress`. */
export interface NativeBalanceSelection {
  selectors: string[];
  type: RecordKind;
}

/** A read-only call made for each record of a kind; rules in `docs/contract.md`, "Triggers and native balances". */
export interface StreamTrigger {
  type: Exclude<RecordKind, 'internalTx'>;
  contractAddress: string;
  functionAbi: AbiItem;
  inputs?: unknown[] | undefined;
  topic0?: string | undefined;
  callFrom?: string | undefined;
}

/** Which chains a stream is about. */
export type ChainFamily = 'evm' | 'aptos';

/** `confirmed` leaves out the delivery that is sent as soon as a block appears. */
export type DeliverMode = 'both' | 'confirmed';

/** How gently a stream's receiver is treated. Ours; the hosted service refuses the keys. */
export interface StreamLimits {
  /** Webhooks of the stream that may be under way at once, 1 to 64. Null, the default: 64. */
  maxInFlight: number | null;
  /**
   * Webhooks of the stream that are sent in a second, retries included, 0.01 to 10,000: at even
   * distances. Null, the default: no limit.
   */
  maxPerSecond: number | null;
  /**
   * One webhook at a time, in the order of their making; one that fails holds up the rest until its
   * retries are over. Default false.
   */
  strictOrder: boolean;
}

/** What a stream watches and where it delivers. */
export interface CreateEvmStream extends Optional<StreamLimits> {
  /** Where webhooks are POSTed; `http:` or `https:`. */
  webhookUrl: string;
  description: string;
  /** Echoed in each webhook; official receivers need at least one letter or digit in it. */
  tag?: string | undefined;
  /** Hex chain ids, e.g. `["0x1", "0x89"]`; at least one. */
  chainIds: string[];
  /** Event signatures, as text (`Transfer(address,address,uint256)`) or as 32-byte hash. */
  topic0?: string[] | null | undefined;
  /** Match every address; needs `topic0`. Default false. */
  allAddresses?: boolean | undefined;
  /** Transactions from or to a watched address. Default false. */
  includeNativeTxs?: boolean | undefined;
  /** Logs that name a watched address. Default false. */
  includeContractLogs?: boolean | undefined;
  /** Calls inside transactions that move value. Default false. */
  includeInternalTxs?: boolean | undefined;
  /** Every log of each matched transaction. Default false. */
  includeAllTxLogs?: boolean | undefined;
  getNativeBalances?: NativeBalanceSelection[] | null | undefined;
  /** Event items used to decode; sent along in each webhook. */
  abi?: AbiItem[] | null | undefined;
  advancedOptions?: AdvancedOption[] | null | undefined;
  demo?: boolean | undefined;
  triggers?: StreamTrigger[] | null | undefined;
  filterPossibleSpamAddresses?: boolean | undefined;
  /** Ours; the hosted service refuses the key. Default `both`. */
  deliver?: DeliverMode | undefined;
  /**
   * Ours: a notice (`removed: true`) for each delivery that was sent and whose block then left the
   * chain. Default false.
   */
  notifyRemoved?: boolean | undefined;
  /**
   * Ours: sent with each webhook. At most 20, each value at most 1024 printable ASCII characters.
   * Default none.
   */
  headers?: Record<string, string> | undefined;
}

/**
 * Any part of {@link CreateEvmStream}; what is absent stays, and so does what is null, but for
 * `maxInFlight` and `maxPerSecond`, where null is no limit. An empty list takes a list away.
 */
export type UpdateEvmStream = Optional<CreateEvmStream>;

/** The same fields, each of which may be left out. */
export type Optional<Fields> = { [K in keyof Fields]?: Fields[K] | undefined };

/** A page of a list. `total` counts all rows; `cursor` is absent on the last page. */
export interface Page<T> {
  result: T[];
  total: number;
  cursor?: string;
  /** Only on the last page, at least `total`: without it the official client asks for more. */
  page_size?: number;
}

/** Which addresses of a stream are listed. */
export interface ListAddresses {
  /**
   * Default: all of them. 1 to 100 characters: what an address begins with, from `0x` on; its ends, as
   * `0x28C6…1d60`; or a part of an address or of its label. The case of a to z does not matter; that of other
   * letters does on SQLite.
   */
  find?: string | undefined;
  limit?: number | undefined;
  cursor?: string | undefined;
}

export interface AddressesBody {
  address: string | string[];
}

/** What is added, or what replaces the whole list. */
export interface LabelledAddressesBody extends AddressesBody {
  /**
   * Names for people, by address: of addresses of this request, 1 to 64 characters each. Ours; the
   * hosted service has no such key.
   */
  labels?: Record<string, string> | undefined;
}

/** Any non-2xx answer. */
export interface ErrorBody {
  message: string | string[];
  /** By field, as `requestBody.chainIds`: what is wrong and the value that was sent. */
  details?: Record<string, unknown>;
  /**
   * The same, of any status but 422: the official client appends `details` to the message, which the
   * contract fixes. Ours.
   */
  fields?: Record<string, unknown>;
}

/** Rows per page when `limit` is absent, and at most. */
export const PAGE_LIMIT = 100;
