/** Writes tables as CSV (RFC 4180) without formulas that a spreadsheet would run, and reads rows. */

export type CsvValue = string | number | boolean | null;

/**
 * Matches text that a spreadsheet may interpret as a formula, also in full-width characters, or
 * that has an apostrophe before such text.
 */
const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
/** Matches cells that {@link parseCsvRow} or a spreadsheet would split or trim without quotes. */
const NEEDS_QUOTES = /[",;\t\r\n]|^\s|\s$/;

/**
 * Returns a value as a CSV cell. An apostrophe before a possible formula prevents spreadsheets from
 * running it.
 */
function toCell(value: CsvValue): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns one row, without its line ending. */
export const toCsvRow = (row: readonly CsvValue[]): string => row.map(toCell).join(',');

/** Returns one line per row, each terminated by CRLF. */
export const toCsv = (rows: readonly (readonly CsvValue[])[]): string =>
  rows.map((row) => `${toCsvRow(row)}\r\n`).join('');

/** Removes the apostrophe that {@link toCell} adds. */
const fromCell = (text: string): string =>
  text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;

/** Matches a cell and the separator after it. */
const CELL = / *"((?:[^"]|"")*)" *[,;\t]|([^,;\t]*)[,;\t]/g;

/**
 * Splits a row, without its line ending, at commas, semicolons and tabs. Returns the texts that
 * {@link toCsvRow} was given; cells without quotes are trimmed. Cells with line breaks are not
 * supported.
 */
export const parseCsvRow = (line: string): string[] =>
  Array.from(`${line},`.matchAll(CELL), ([, quoted, plain = '']) =>
    fromCell(quoted?.replaceAll('""', '"') ?? plain.trim()),
  );
