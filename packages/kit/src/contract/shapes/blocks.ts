/** Calls about blocks that are there already. */
import type { CreateAptosStream } from './aptos.ts';
import type { CreateEvmStream, Optional } from './streams.ts';

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

/** Past blocks of an Aptos chain, by height or by ledger version, both ends included. */
export interface AptosBackfill {
  streamId: string;
  blockFrom?: number | undefined;
  blockTo?: number | undefined;
  versionFrom?: number | undefined;
  versionTo?: number | undefined;
}
