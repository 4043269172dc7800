/** Cursors: opaque to the client, a position in the list's order to us. */
import * as z from 'zod';
import type { ListPosition } from '../store/streams/contract.ts';
import { validationFailed } from './answers.ts';

/** Where a page starts. */
export interface Place extends ListPosition {
  /** What the first page counted, so that every page says the same however the list grows. */
  total?: number | undefined;
}

/** A time and an id, or 0 and an address; then the total. */
const place = z.tuple([
  z.int().nonnegative(),
  z.string().regex(/^[\w-]+$/),
  z.int().nonnegative().optional(),
]);

export const toCursor = ({ at, id, total }: Place): string =>
  Buffer.from(JSON.stringify(total === undefined ? [at, id] : [at, id, total])).toString(
    'base64url',
  );

/** Undefined at the start of a list; a 422 for text that is no cursor of ours. */
export function fromCursor(cursor: string | undefined): Place | undefined {
  if (cursor === undefined || cursor === '') return undefined;
  try {
    const [at, id, total] = place.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
    return { at, id, total };
  } catch {
    throw validationFailed(
      'query',
      [{ path: ['cursor'], message: 'should be the cursor of an earlier response, unchanged' }],
      { cursor },
    );
  }
}

/**
 * Everything of a page but its rows. The last page has no cursor, and tells the official client so by
 * a page size that no list exceeds.
 */
export const pageEnd = (
  total: number,
  next: ListPosition | undefined,
): { total: number; cursor: string } | { total: number; page_size: number } =>
  next === undefined
    ? { total, page_size: Math.max(total, 1) }
    : { total, cursor: toCursor({ ...next, total }) };
