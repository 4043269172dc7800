/** Calls about blocks that are there already. */
import type { CreateAptosStream } from './aptos.ts';
import type { AptosWebhook } from './aptosWebhook.ts';
import type { CreateEvmStream, Optional } from './streams.ts';
import type { EvmWebhook } from './webhook.ts';

/** What a stream would watch, tried on one block. */
export interface DryRunBlock extends Pick<
  CreateEvmStream,
  | 'tag'
  | 'topic0'
  | 'allAddresses'
  | 'includeNativeTxs'
  | 'includeContractLogs'
  | 'includeInternalTxs'
  | 'includeAllTxLogs'
  | 'filterPossibleSpamAddresses'
  | 'abi'
  | 'advancedOptions'
> {
  /** EVM addresses the stream would watch. */
  addresses?: string[] | undefined;
}

/**
 * What an EVM stream would watch and read, tried on one block. Triggers and balances are read from the chain
 * as for a webhook.
 */
export interface EvmDryRun
  extends DryRunBlock, Pick<CreateEvmStream, 'triggers' | 'getNativeBalances'> {
  /** The block's number. */
  block: number;
}

/** What came of it. */
export interface EvmDryRunAnswer {
  /** Null where nothing matches. */
  webhook: EvmWebhook | null;
  /** At most 20, most frequent first. */
  near: NearMiss[];
  /**
   * The events that the stream's addresses emitted or that name one of them, whatever events, filters and
   * records the stream chooses; most frequent first. All that the stream names, and at most 20 others.
   */
  seen: SeenEvent[];
}

/** Logs of one event in a block. */
export interface SeenEvent {
  /** 32-byte hash, lower-case hex. Logs without one are not counted. */
  topic0: string;
  /** Such as `Transfer(address,address,uint256)`, of the stream's own events or a token standard; else null. */
  signature: string | null;
  /** How many inputs are indexed: ERC-20 and ERC-721 share a Transfer, with two and with three. */
  indexed: number;
  count: number;
}

/** Logs that all else would have let pass, and one comparison of a filter did not. */
export interface NearMiss {
  /** Such as `Transfer(address,address,uint256)`. */
  event: string;
  /** The rule: a parameter of the event, how it is compared, and with what. */
  name: string;
  operator: 'lt' | 'lte' | 'gt' | 'gte';
  /** Decimal. */
  wanted: string;
  /** Logs in the block. */
  count: number;
  /** Smallest and largest of the values that were compared; decimal. */
  min: string;
  max: string;
}

/** The webhook that would be sent. The hosted service may leave parts of it out. */
export type DryRunAnswer = Partial<EvmWebhook>;

/** Matches past blocks and sends what they hold, both ends included. */
export interface HistoricalJob {
  /** Hex chain id. */
  chainId: string;
  streamId: string;
  blockFrom: number;
  blockTo: number;
}

/** Which block of an Aptos chain: by its height, or by a ledger version it holds. One of the two. */
export interface AptosBlockChoice {
  block?: number | undefined;
  version?: number | undefined;
}

/** What an Aptos stream would watch, tried on one block. */
export interface AptosDryRun
  extends
    AptosBlockChoice,
    Optional<
      Pick<
        CreateAptosStream,
        | 'tag'
        | 'functions'
        | 'events'
        | 'includePayload'
        | 'includeEvents'
        | 'includeChanges'
        | 'allAddresses'
      >
    > {
  /** Addresses the stream would watch. */
  addresses?: string[] | undefined;
}

/** What came of it. */
export interface AptosDryRunAnswer {
  /** Null where nothing matches. */
  webhook: AptosWebhook | null;
  /**
   * The entry functions that the block's transactions call, and the events they have; of those
   * transactions that touch an address of the stream, or of all when it watches all, whatever functions
   * and events it chooses. Most frequent first: all that the stream names, and of each kind at most 20
   * others.
   */
  seen: SeenMovePath[];
}

/** Calls of one function, or events of one type, in a block. */
export interface SeenMovePath {
  kind: 'function' | 'event';
  /**
   * As a stream may name it: without generic arguments, which is the type whatever its arguments are, and
   * with them where the stream names them so. Addresses have 64 digits but the special ones: `0x1`.
   */
  path: string;
  /** Transactions that call the function, or events. */
  count: number;
}

/** Past blocks of an Aptos chain, by height or by ledger version, both ends included. */
export interface AptosBackfill {
  streamId: string;
  blockFrom?: number | undefined;
  blockTo?: number | undefined;
  versionFrom?: number | undefined;
  versionTo?: number | undefined;
}

/** What the service answers to a job over past blocks. */
export interface HistoricalJobAnswer {
  message: string;
  /** Parts the range was cut into. */
  totalPartitions: number;
  /** Ours: the id of the job at `/sluice/jobs/{id}`. The hosted service has no such key. */
  jobId?: string;
}
