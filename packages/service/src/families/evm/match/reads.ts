/** Returns from the options of a stream which values on chain it reads. */
import type { StreamOptions } from '../../../store/streams/contract.ts';

/** Returns whether the stream reads values on chain. */
export const takesReads = ({ reads }: Pick<StreamOptions, 'reads'>): boolean =>
  (reads ?? []).length > 0;
