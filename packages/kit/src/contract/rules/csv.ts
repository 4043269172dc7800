/** Writes tables as CSV (RFC 4180) without formulas that a spreadsheet would run. */

export type CsvValue = string | number | boolean | null;

/**
 * Matches text that a spreadsheet may interpret as a formula, also in full-width characters, or
 * that has an apostrophe before such text.
 */
const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
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

/** Returns the text that a cell has without the apostrophe that {@link toCsv} adds. */
export const fromCsvCell = (text: string): string =>
  text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;

/** Returns one row, without its line ending. */
export const toCsvRow = (row: readonly CsvValue[]): string => row.map(toCell).join(',');

/** Returns one line per row, each terminated by CRLF. */
export const toCsv = (rows: readonly (readonly CsvValue[])[]): string =>
  rows.map((row) => `${toCsvRow(row)}\r\n`).join('');
