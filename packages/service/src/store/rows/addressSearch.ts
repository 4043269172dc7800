/** Searches rows by their columns `address` and `label`. */
import { type SqlBool, sql } from 'kysely';

/** A character that sorts after every hex digit. */
const AFTER_DIGITS = 'g';

/** Matches an address that is shortened in the middle, such as `0x12…ab`. */
const ENDS = /^(0x[0-9a-f]*)(?:…|\.\.\.)([0-9a-f]*)$/;

/**
 * Builds the condition of an address search. A prefix becomes a range of the primary key; other
 * text is compared with each label and address.
 */
export function isSought(find: string) {
  const wanted = find.toLowerCase();
  const [, head = wanted, tail = ''] = ENDS.exec(wanted) ?? [];
  if (!/^0x[0-9a-f]*$/.test(head)) {
    const pattern = `%${find.replaceAll(/[\\%_]/g, '\\$&')}%`;
    // The database lowercases both sides, because engines lowercase different letters.
    return sql<SqlBool>`(lower(label) like lower(${pattern}) escape '\\'
      or address like lower(${pattern}) escape '\\')`;
  }
  // Leading zeros of Aptos addresses are often omitted.
  const padded = `0x${head.slice(2).padStart(64, '0')}`;
  return sql<SqlBool>`(address >= ${head} and address < ${head + AFTER_DIGITS} and address like ${`%${tail}`}
    or address = ${padded} and ${tail} = '')`;
}
