/** Writes tables as CSV (RFC 4180) that spreadsheets cannot run. Pure. */

export type CsvValue = string | number | boolean | null;

/** First characters with which spreadsheets start a formula. */
const FORMULA = /^[=+\-@\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]/;

/** A leading apostrophe turns a formula into text; numbers stay numbers. */
function toCell(value: CsvValue): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns one line per row, each with a line break at its end. */
export const toCsv = (rows: readonly (readonly CsvValue[])[]): string =>
  rows.map((row) => `${row.map(toCell).join(',')}\r\n`).join('');
