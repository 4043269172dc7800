/**
 * Converts text into a form that both engines can store. PostgreSQL rejects NUL and lone
 * surrogates, and one rejected row would fail every row written with it.
 */

/** Replaces NUL and each lone surrogate with U+FFFD. */
function toLedgerText(text: string): string {
  const wellFormed = text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\u{fffd}') : wellFormed;
}

/** Converts a statement parameter. */
export const toLedgerValue = (value: unknown): unknown =>
  typeof value === 'string' ? toLedgerText(value) : value;

/** Escapes of `JSON.stringify` that the engines reject after unescaping them. */
const REFUSED_ESCAPE = /\\u(?:0000|d[89a-f])/;

/** Serializes a list that the database reads as JSON. */
export function toLedgerJson(list: readonly unknown[]): string {
  const json = JSON.stringify(list);
  return REFUSED_ESCAPE.test(json)
    ? JSON.stringify(list, (_, value: unknown) => toLedgerValue(value))
    : json;
}
