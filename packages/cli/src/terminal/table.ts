/** Prints tables that fit the terminal, without borders and with two spaces between columns. */
import type { Command } from 'commander';
import { CommandError } from './errors.ts';
import type { Terminal, Tone } from './terminal.ts';
import { cutText, padText, widthOf, wrapText } from './text.ts';

/** The content of a table cell, with an optional tone. */
export type Cell = string | number | { text: string; tone: Tone };

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => Cell;
  /** Where text that does not fit is truncated; `middle` for hashes. Default: never truncated. */
  readonly cut?: 'middle' | 'end';
  /** Whether the cells are aligned to the right, as for numbers. */
  readonly right?: boolean;
}

const GUTTER = 2;
/** Minimum width to which a column is narrowed. */
const CUT_LEAST = 9;

export interface TableOptions {
  /** Whether to print complete cells, even if lines do not fit the terminal. */
  wide?: boolean;
  /** Comma-separated titles of the columns to print, in this order. Default: all. */
  columns?: string;
}

export const addTableOptions = (command: Command): Command =>
  command
    .option('--wide', 'Do not truncate columns')
    .option('--columns <titles>', 'Print only these columns, in this order, separated by commas');

/**
 * Prints a title row and one row per item.
 *
 * @throws CommandError `usage` for an unknown column.
 */
export function printTable<Row>(
  terminal: Terminal,
  rows: readonly Row[],
  all: readonly Column<Row>[],
  { wide = false, columns: wanted }: TableOptions = {},
): void {
  const columns = wanted === undefined ? all : chooseColumns(all, wanted);
  const cells = rows.map((row) => columns.map(({ value }) => toCell(value(row))));
  const widths = columns.map(({ title }, at) =>
    Math.max(title.length, ...cells.map((row) => widthOf(row[at]!.text))),
  );
  if (!wide) shrink(widths, columns, terminal.width);
  const line = (row: readonly { text: string; tone?: Tone }[]): string =>
    row
      .map(({ text, tone }, at) => {
        const width = widths[at]!;
        const fit = cutText(text, width, columns[at]!.cut);
        const padded = padText(fit, width, columns[at]!.right ? 'right' : 'left');
        return tone === undefined ? padded : terminal.tint(tone, padded);
      })
      .join(' '.repeat(GUTTER))
      .trimEnd();
  terminal.print(line(columns.map(({ title }) => ({ text: title, tone: 'faint' as const }))));
  for (const row of cells) terminal.print(line(row));
}

const toName = (title: string): string => title.toLowerCase().replaceAll(' ', '-');

function chooseColumns<Row>(all: readonly Column<Row>[], wanted: string): Column<Row>[] {
  return wanted.split(',').map((name) => {
    const column = all.find(({ title }) => toName(title) === toName(name.trim()));
    if (column !== undefined) return column;
    const names = all.map(({ title }) => toName(title)).join(', ');
    throw new CommandError('usage', `--columns ${name}: should be one of ${names}`);
  });
}

const toCell = (cell: Cell): { text: string; tone?: Tone } =>
  typeof cell === 'object' ? cell : { text: String(cell) };

export interface LinePart {
  readonly text: string;
  readonly tone?: Tone;
  /** Where the part is truncated if the line is too long. Default: never truncated. */
  readonly cut?: 'middle' | 'end';
  /** Whether the part is omitted if the line is too long. */
  readonly optional?: true;
}

/**
 * Joins the non-empty parts with two spaces. If the line is wider than the terminal minus `indent`
 * columns, omits the optional parts and truncates parts with `cut`.
 */
export function toLine(
  { tint, width }: Pick<Terminal, 'tint' | 'width'>,
  parts: readonly LinePart[],
  indent = 0,
): string {
  const most = width - indent;
  const isTooLong = (some: readonly LinePart[]): boolean =>
    some.reduce((sum, { text }) => sum + widthOf(text) + GUTTER, -GUTTER) > most;
  const full = parts.filter(({ text }) => text !== '');
  const shown = isTooLong(full) ? full.filter(({ optional }) => !optional) : full;
  const widths = shown.map(({ text }) => widthOf(text));
  shrink(widths, shown, most);
  return shown
    .map(({ text, tone, cut }, at) => {
      const fit = cutText(text, widths[at]!, cut);
      return tone === undefined ? fit : tint(tone, fit);
    })
    .join(' '.repeat(GUTTER));
}

/** Prints a field. Text is wrapped; any other value is printed as JSON and truncated. */
export function printField({ print, tint, width }: Terminal, name: string, value: unknown): void {
  const [first = '', ...more] =
    typeof value === 'string'
      ? wrapText(name + value, name.length, width)
      : [cutText(name + JSON.stringify(value), width)];
  print((tint('faint', name) + first.slice(name.length)).trimEnd());
  more.forEach(print);
}

/**
 * Narrows the widest columns that may be truncated until the line fits or no column can be
 * narrowed.
 */
function shrink(widths: number[], columns: readonly Pick<LinePart, 'cut'>[], most: number): void {
  const total = (): number => widths.reduce((sum, width) => sum + width + GUTTER, -GUTTER);
  while (total() > most) {
    let widest = -1;
    for (const [at, { cut }] of columns.entries()) {
      if (cut && widths[at]! > CUT_LEAST && (widest < 0 || widths[at]! > widths[widest]!)) {
        widest = at;
      }
    }
    if (widest < 0) return;
    widths[widest]!--;
  }
}
