import type { EvmDryRunResult } from '@sluice/kit/contract';
import type { Token } from '../../../store/enrichment/contract.ts';
import type { EvmStreamRecord } from '../../../store/streams/contract.ts';
import type { ChainCalls } from '../../../chains/calls.ts';
import type { NameAnswer } from './ensNames.ts';

export interface EvmCalls extends ChainCalls<EvmStreamRecord, EvmDryRunResult> {
  /**
   * Returns the address of a proxy's implementation; undefined if the contract is not a known kind
   * of proxy.
   */
  readImplementation(address: string): Promise<string | undefined>;
  readContract(address: string): Promise<{ isContract: boolean; token: Token | null }>;
  readName(name: string): Promise<NameAnswer>;
}
