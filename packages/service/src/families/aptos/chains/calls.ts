import type { AptosDryRunResult } from '@sluice/kit/contract';
import type { AptosStreamRecord } from '../../../store/streams/contract.ts';
import type { ChainCalls } from '../../../chains/calls.ts';

export interface AptosCalls extends ChainCalls<AptosStreamRecord, AptosDryRunResult> {
  heightOf(version: number): Promise<number>;
}
