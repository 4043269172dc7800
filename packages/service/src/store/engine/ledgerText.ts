/**
 * Converts text to a form that both engines can store. PostgreSQL rejects NUL and lone surrogates,
 * and one rejected row would fail the entire statement.
 */

/** Replaces NUL and each lone surrogate with U+FFFD. */
export function toLedgerText(text: string): string {
  const wellFormed = text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\u{fffd}') : wellFormed;
}

/** Converts a statement parameter that is a string; returns other values unchanged. */
export const toLedgerValue = (value: unknown): unknown =>
  typeof value === 'string' ? toLedgerText(value) : value;

/** Escape sequences in the output of `JSON.stringify` that PostgreSQL rejects. */
const REFUSED_ESCAPE = /\\u(?:0000|d[89a-f])/;

/** Serializes a list that the database reads as JSON, and converts its strings. */
export function toLedgerJson(list: readonly unknown[]): string {
  const json = JSON.stringify(list);
  return REFUSED_ESCAPE.test(json)
    ? JSON.stringify(list, (_, value: unknown) => toLedgerValue(value))
    : json;
}
