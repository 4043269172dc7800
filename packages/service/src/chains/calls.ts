/** Calls that the API makes on a followed chain, even if another process reads the chain. */
import type { ExplainedRecord, ExplainedTransaction, ExplainedValue } from '@sluice/kit/contract';

/** Transactions to which an explanation is limited. Default: all. */
export interface ExplainScope {
  /** Transaction hashes. */
  transactions?: ReadonlySet<string> | undefined;
  /** Ledger version of a transaction, on chains that number transactions. */
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

/** The calls that the chains of every family have. */
export interface ChainCalls<Record = never, DryRunResult = unknown> {
  /**
   * Returns the height or hash of the transaction's block, or `pending` if the transaction is not
   * in a block yet; undefined if no node knows it.
   */
  findTransaction(hash: string): Promise<{ at: number | string } | 'pending' | undefined>;
  /**
   * Returns the height of the block that contains this ledger version. Absent on chains that do not
   * number transactions.
   */
  heightOf?(version: number): Promise<number>;
  /**
   * Explains the block with this height or hash for the streams of the chain, by their current
   * rules; returns undefined if no node has the block.
   */
  explain(at: number | string, only: ExplainScope): Promise<ExplainedBlock | undefined>;
  /**
   * Explains the values that streams read in the state of this committed block, or of the newest
   * one, by stream. Streams without values are omitted.
   */
  explainValues(
    at: { number: number; hash: string; timestamp?: number | undefined } | 'newest',
    address?: string,
  ): Promise<Map<string, ExplainedValue[]>>;
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
