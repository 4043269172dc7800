import type { AptosDryRunAnswer } from '@sluice/kit/contract';
import type { AptosStreamRecord } from '../../../store/streams/contract.ts';
import type { ChainCalls } from '../../../chains/calls.ts';

export interface AptosCalls extends ChainCalls<AptosStreamRecord, AptosDryRunAnswer> {
  heightOf(version: number): Promise<number>;
}
