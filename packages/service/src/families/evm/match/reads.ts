/** Returns from the options of a stream which values on chain it reads. */
import type { StreamOptions } from '../../../store/streams/contract.ts';

/** Returns whether the stream reads values on chain. */
export const takesReads = ({ reads }: Pick<StreamOptions, 'reads'>): boolean =>
  (reads ?? []).length > 0;

/** Returns whether the stream reads balances of its own addresses. */
export const readsAddresses = ({ reads }: Pick<StreamOptions, 'reads'>): boolean =>
  (reads ?? []).some(({ balance, of }) => balance !== undefined && of === undefined);
