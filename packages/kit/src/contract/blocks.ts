/** Calls about blocks that are there already (contract section 1.3). */
import type { CreateEvmStream } from './streams.ts';
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

/** What the service answers to a job over past blocks. */
export interface HistoricalJobAnswer {
  message: string;
  /** Parts the range was cut into. */
  totalPartitions: number;
  /** Ours: the id of the job at `/sluice/jobs/{id}`. The hosted service has no such key. */
  jobId?: string;
}
