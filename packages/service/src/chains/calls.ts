/** Calls that the API makes on a followed chain, even if another process reads the chain. */
import type {
  AptosDryRunResult,
  EvmDryRunResult,
  ExplainedRecord,
  ExplainedTransaction,
} from '@sluice/kit/contract';
import type { Token } from '../store/enrichment/contract.ts';
import type { AptosStreamRecord, EvmStreamRecord } from '../store/streams/contract.ts';
import type { NameAnswer } from './evm/ensNames.ts';

/** Transactions to which an explanation is limited. Default: all. */
export interface ExplainOnly {
  /** Transaction hashes. */
  transactions?: ReadonlySet<string> | undefined;
  /** Ledger version of a transaction, on Aptos. */
  version?: number | undefined;
}

export interface ExplainedRecords {
  /** The transaction, if exactly one was requested. */
  transaction?: ExplainedTransaction | undefined;
  /** Explained records by stream id. Streams without any are omitted. */
  streams: Map<string, ExplainedRecord[]>;
}

export interface ExplainedBlock extends ExplainedRecords {
  block: { number: number; hash: string; timestamp: number };
}

/** The calls that both chain families have. */
export interface ChainCalls<Record = never, DryRunResult = unknown> {
  /**
   * Returns the height or hash of the transaction's block, or `pending` if the transaction is not
   * in a block yet; undefined if no node knows it.
   */
  findTransaction(hash: string): Promise<{ at: number | string } | 'pending' | undefined>;
  /**
   * Explains the block with this height or hash for the streams of the chain, by their current
   * rules; returns undefined if no node has the block.
   */
  explain(at: number | string, only: ExplainOnly): Promise<ExplainedBlock | undefined>;
  /**
   * Returns what the stream would receive from the block, and details such as close matches.
   *
   * @param addresses undefined for the addresses of the stored stream with the record's id
   */
  dryRun(
    blockNumber: number,
    record: Record,
    addresses: readonly string[] | undefined,
  ): Promise<DryRunResult>;
  /**
   * Queues deliveries for the stream's matches in the block. Returns the number of matched records.
   */
  sendBlock(blockNumber: number, streamId: string, requestId: string): Promise<number>;
  resume(from: number | undefined, requestId: string): Promise<number>;
}

export interface EvmCalls extends ChainCalls<EvmStreamRecord, EvmDryRunResult> {
  /**
   * Returns the address of a proxy's implementation; undefined if the contract is not a known kind
   * of proxy.
   */
  readImplementation(address: string): Promise<string | undefined>;
  readContract(address: string): Promise<{ isContract: boolean; token: Token | null }>;
  readName(name: string): Promise<NameAnswer>;
}

export interface AptosCalls extends ChainCalls<AptosStreamRecord, AptosDryRunResult> {
  /** Returns the height of the block that contains this ledger version. */
  heightOf(version: number): Promise<number>;
}
