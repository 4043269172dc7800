/** Converts the confirmations of a stream to the columns of streams and matches, and back. */
import type { Confirmations } from '@sluice/kit/contract';
import type { Selectable } from 'kysely';
import type { Tables } from '../tables/tables.ts';
import type { ConfirmedHeights } from './contract.ts';

type ConfirmColumns = Pick<Selectable<Tables['stream']>, 'confirm_by' | 'confirm_depth'>;

/** @param confirmations those of a stream; null for those of the chain */
export const toConfirmColumns = (confirmations: Confirmations | null): ConfirmColumns =>
  typeof confirmations === 'number'
    ? { confirm_by: 'depth', confirm_depth: confirmations }
    : { confirm_by: confirmations ?? 'chain', confirm_depth: 0 };

export function fromConfirmColumns({
  confirm_by: by,
  confirm_depth: depth,
}: ConfirmColumns): Confirmations | null {
  if (by === 'chain') return null;
  return by === 'depth' ? depth : by;
}

/**
 * Returns the number of the newest block whose matches are confirmed; negative if there is none.
 *
 * @param confirmations those of a stream; null for those of the chain
 */
export function confirmedUpTo(
  heights: ConfirmedHeights,
  confirmations: Confirmations | null,
): number {
  const { confirm_by: by, confirm_depth: depth } = toConfirmColumns(confirmations);
  return heights[by] - depth;
}
