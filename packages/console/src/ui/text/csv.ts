/** Writes tables as CSV (RFC 4180) without formulas that a spreadsheet would run. */

export type CsvValue = string | number | boolean | null;

/** Matches text that a spreadsheet may interpret as a formula. */
const FORMULA = /^[=+\-@\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]/;

/**
 * Returns a value as a CSV cell. An apostrophe before a possible formula prevents spreadsheets from
 * running it.
 */
function toCell(value: CsvValue): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns one line per row, each terminated by CRLF. */
export const toCsv = (rows: readonly (readonly CsvValue[])[]): string =>
  rows.map((row) => `${row.map(toCell).join(',')}\r\n`).join('');
