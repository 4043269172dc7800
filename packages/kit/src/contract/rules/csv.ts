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

const SEPARATORS = ',;\t';

/**
 * Splits a row, without its line ending, at commas, semicolons and tabs. Returns the values that
 * {@link toCsvRow} was given; cells without quotes are trimmed. Cells with line breaks are not
 * supported.
 */
export function parseCsvRow(line: string): string[] {
  const cells: string[] = [];
  for (let at = 0; at <= line.length;) {
    const { text, end } = readQuoted(line, at) ?? readPlain(line, at);
    cells.push(fromCell(text));
    at = end + 1;
  }
  return cells;
}

interface Cell {
  readonly text: string;
  /** Index of the separator after the cell, or the length of the line. */
  readonly end: number;
}

function readPlain(line: string, at: number): Cell {
  let end = at;
  while (end < line.length && !SEPARATORS.includes(line[end]!)) end++;
  return { text: line.slice(at, end).trim(), end };
}

/** Reads a cell in quotes, with doubled quotes inside; undefined if the cell has no quotes. */
function readQuoted(line: string, at: number): Cell | undefined {
  const open = afterSpaces(line, at);
  if (line[open] !== '"') return undefined;
  let close = line.indexOf('"', open + 1);
  while (close >= 0 && line[close + 1] === '"') close = line.indexOf('"', close + 2);
  const end = afterSpaces(line, close + 1);
  if (close < 0 || (end < line.length && !SEPARATORS.includes(line[end]!))) return undefined;
  return { text: line.slice(open + 1, close).replaceAll('""', '"'), end };
}

function afterSpaces(line: string, at: number): number {
  let index = at;
  while (line[index] === ' ') index++;
  return index;
}
