/**
 * Text as both engines can hold it. PostgreSQL refuses NUL and lone surrogates, and one refused row would
 * fail every row written with it.
 */

/** With U+FFFD for NUL and for each lone surrogate. */
function toLedgerText(text: string): string {
  const wellFormed = text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\u{fffd}') : wellFormed;
}

/** A parameter of a statement. */
export const toLedgerValue = (value: unknown): unknown =>
  typeof value === 'string' ? toLedgerText(value) : value;

/** `JSON.stringify` escapes what the engines would unescape and then refuse. */
const REFUSED_ESCAPE = /\\u(?:0000|d[89a-f])/;

/** A list that the database reads as JSON. */
export function toLedgerJson(list: readonly unknown[]): string {
  const json = JSON.stringify(list);
  return REFUSED_ESCAPE.test(json)
    ? JSON.stringify(list, (_, value: unknown) => toLedgerValue(value))
    : json;
}
