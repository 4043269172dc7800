/** Cursors: opaque to the client, a position in the list's order to us. */
import * as z from 'zod';
import type { ListPosition } from '../store/store.ts';
import { validationFailed } from './answers.ts';

/** A time and an id, or 0 and an address. */
const position = z.tuple([z.int().nonnegative(), z.string().regex(/^[\w-]+$/)]);

export const toCursor = ({ at, id }: ListPosition): string =>
  Buffer.from(JSON.stringify([at, id])).toString('base64url');

/** Undefined at the start of a list; a 422 for text that is no cursor of ours. */
export function fromCursor(cursor: string | undefined): ListPosition | undefined {
  if (cursor === undefined || cursor === '') return undefined;
  try {
    const [at, id] = position.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
    return { at, id };
  } catch {
    throw validationFailed(
      'query',
      [{ path: ['cursor'], message: 'should be the cursor of an earlier answer, unchanged' }],
      { cursor },
    );
  }
}

/**
 * The last page has no cursor, and tells the official client so by a page size that no list
 * exceeds (contract section 4.3).
 */
export const lastPage = (total: number): { page_size: number } => ({
  page_size: Math.max(total, 1),
});
