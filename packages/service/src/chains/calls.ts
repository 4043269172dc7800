/** Requests to a followed chain. Their errors have readable messages. */
import type { AptosDryRunAnswer, EvmDryRunAnswer, ExplainedRecord } from '@sluice/kit/contract';
import type { Token } from '../store/enrichment/contract.ts';
import type { AptosStreamRecord, EvmStreamRecord } from '../store/streams/contract.ts';
import type { NameAnswer } from './evm/ensNames.ts';

/** The transactions to explain. Default: all. */
export interface ExplainOnly {
  /** Transaction hashes. */
  transactions?: ReadonlySet<string> | undefined;
  /** Ledger version, on Aptos. */
  version?: number | undefined;
}

export interface ExplainedBlock {
  block: { number: number; hash: string; timestamp: number };
  /** Explanations by stream; streams without a relation to the block are omitted. */
  streams: Map<string, ExplainedRecord[]>;
}

/** Requests to a chain of either family. */
export interface ChainCalls<Record = never, DryRunAnswer = unknown> {
  /** Returns the height or hash of the transaction's block; undefined if no node knows it. */
  findTransaction(hash: string): Promise<{ at: number | string } | 'pending' | undefined>;
  /** Explains the block for each current stream; undefined if no node has it. */
  explain(at: number | string, only: ExplainOnly): Promise<ExplainedBlock | undefined>;
  /** Returns what this stream would receive from the block. */
  dryRun(blockNumber: number, record: Record, addresses: readonly string[]): Promise<DryRunAnswer>;
  /** Queues the stream's matches in the block and returns the number of their records. */
  sendBlock(blockNumber: number, streamId: string, requestId: string): Promise<number>;
  resume(from: number | undefined, requestId: string): Promise<number>;
}

export interface EvmCalls extends ChainCalls<EvmStreamRecord, EvmDryRunAnswer> {
  /** Returns a proxy's implementation; undefined if the contract is not a known kind of proxy. */
  readImplementation(address: string): Promise<string | undefined>;
  readContract(address: string): Promise<{ isContract: boolean; token: Token | null }>;
  readName(name: string): Promise<NameAnswer>;
}

export interface AptosCalls extends ChainCalls<AptosStreamRecord, AptosDryRunAnswer> {
  /** Returns the height of the block with this ledger version. */
  heightOf(version: number): Promise<number>;
}
