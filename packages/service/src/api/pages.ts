/** Reads and writes cursors, which are opaque to clients and contain a position in a list. */
import * as z from 'zod';
import type { ListPosition } from '../store/streams/contract.ts';
import { validationFailed } from './httpErrors.ts';

/** Position in a list after which a page starts. */
export interface PagePosition extends ListPosition {
  /**
   * Total that the first page reported, so that all pages report the same total while the list
   * grows.
   */
  total?: number | undefined;
}

/** The parts of a cursor: a timestamp or other number, an id or address, and the total. */
const place = z.tuple([
  z.int().nonnegative(),
  z.string().regex(/^[\w-]+$/),
  z.int().nonnegative().optional(),
]);

export const toCursor = ({ at, id, total }: PagePosition): string =>
  Buffer.from(JSON.stringify(total === undefined ? [at, id] : [at, id, total])).toString(
    'base64url',
  );

/**
 * Returns the position in a cursor; undefined at the start of a list, which has no cursor. Throws a
 * 422 for an invalid cursor.
 */
export function fromCursor(cursor: string | undefined): PagePosition | undefined {
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
 * Returns the fields of a page that follow its rows. The last page has a `page_size` of at least
 * the total instead of a cursor, so that the official client stops.
 */
export const pageEnd = (
  total: number,
  next: ListPosition | undefined,
): { total: number; cursor: string } | { total: number; page_size: number } =>
  next === undefined
    ? { total, page_size: Math.max(total, 1) }
    : { total, cursor: toCursor({ ...next, total }) };
