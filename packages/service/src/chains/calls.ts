/** What can be asked of a chain that is read. All of it fails with a reason for people. */
import type { AptosDryRunAnswer, EvmDryRunAnswer, ExplainedRecord } from '@sluice/kit/contract';
import type { Token } from '../store/enrichment/contract.ts';
import type { AptosStreamRecord, EvmStreamRecord } from '../store/streams/contract.ts';
import type { NameAnswer } from './evm/ensNames.ts';

/** Which transactions an explanation is about; all by default. */
export interface ExplainOnly {
  /** Hashes. */
  transactions?: ReadonlySet<string> | undefined;
  /** Of Aptos. */
  version?: number | undefined;
}

export interface ExplainedBlock {
  block: { number: number; hash: string; timestamp: number };
  /** By stream; those that it does not concern are left out. */
  streams: Map<string, ExplainedRecord[]>;
}

/** Of a chain of either family. */
export interface ChainCalls<Record = never, DryRunAnswer = unknown> {
  /** Height or hash of the block it is in; undefined where no node knows it. */
  findTransaction(hash: string): Promise<{ at: number | string } | 'pending' | undefined>;
  /** The block as it concerns each stream now; undefined where no node has it. */
  explain(at: number | string, only: ExplainOnly): Promise<ExplainedBlock | undefined>;
  /** What this stream would get of the block. */
  dryRun(blockNumber: number, record: Record, addresses: readonly string[]): Promise<DryRunAnswer>;
  /** Queues what the stream matches in the block; answers with the records in it. */
  sendBlock(blockNumber: number, streamId: string, requestId: string): Promise<number>;
  resume(from: number | undefined, requestId: string): Promise<number>;
}

export interface EvmCalls extends ChainCalls<EvmStreamRecord, EvmDryRunAnswer> {
  /** What a proxy forwards to; undefined where the contract is none that is known. */
  readImplementation(address: string): Promise<string | undefined>;
  readContract(address: string): Promise<{ isContract: boolean; token: Token | null }>;
  readName(name: string): Promise<NameAnswer>;
}

export interface AptosCalls extends ChainCalls<AptosStreamRecord, AptosDryRunAnswer> {
  /** Height of the block that holds this ledger version. */
  heightOf(version: number): Promise<number>;
}
