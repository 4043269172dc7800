/** Interim: replaced by the table of networks. */
import type { UnverifiedCode } from '@sluice/kit/contract';
import type { Json } from '../json.ts';

export interface Network {
  isStandard: boolean;
  deviations: readonly UnverifiedCode[];
  isOutsideRoots(transaction: Json, block: Json): boolean;
}

const STANDARD = new Set(['0x1', '0xaa36a7', '0x88bb0', '0x4268']);

export const networkOf = (chain: string): Network => ({
  isStandard: STANDARD.has(chain),
  deviations: [],
  isOutsideRoots: () => false,
});
