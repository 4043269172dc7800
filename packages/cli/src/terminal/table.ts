/** Rows for people: no borders, two spaces between columns, as wide as the terminal. */
import type { Command } from 'commander';
import { CommandError } from './errors.ts';
import type { Terminal, Tone } from './terminal.ts';
import { cutText, padText, widthOf, wrapText } from './text.ts';

/** A cell; a tone colours it. */
export type Cell = string | number | { text: string; tone: Tone };

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => Cell;
  /** Where a text that does not fit is cut: hashes in the middle. Default: it is not. */
  readonly cut?: 'middle' | 'end';
  /** Numbers stand right. */
  readonly right?: boolean;
}

const GUTTER = 2;
/** What a cut column keeps at least. */
const CUT_LEAST = 9;

export interface TableOptions {
  /** Nothing is cut. */
  wide?: boolean;
  /** Titles of those wanted, in their order, with commas. Default: all. */
  columns?: string;
}

export const addTableOptions = (command: Command): Command =>
  command
    .option('--wide', 'cut nothing')
    .option('--columns <titles>', 'only these, in this order, e.g. stream,ok-24h');

/**
 * Prints a title row and a row each.
 *
 * @throws CommandError `usage` for a column that there is not.
 */
export function sayTable<Row>(
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
  terminal.say(line(columns.map(({ title }) => ({ text: title, tone: 'faint' as const }))));
  for (const row of cells) terminal.say(line(row));
}

const toName = (title: string): string => title.toLowerCase().replaceAll(' ', '-');

function chooseColumns<Row>(all: readonly Column<Row>[], wanted: string): Column<Row>[] {
  return wanted.split(',').map((name) => {
    const column = all.find(({ title }) => toName(title) === toName(name.trim()));
    if (column !== undefined) return column;
    const names = all.map(({ title }) => toName(title)).join(', ');
    throw new CommandError('usage', `--columns ${name}: should be of ${names}`);
  });
}

const toCell = (cell: Cell): { text: string; tone?: Tone } =>
  typeof cell === 'object' ? cell : { text: String(cell) };

/** One of several things that stand side by side in a line. */
export interface Part {
  readonly text: string;
  readonly tone?: Tone;
  /** Where it is cut when the line is too long. Default: it is not. */
  readonly cut?: 'middle' | 'end';
  /** It is left out first. */
  readonly optional?: true;
}

/** The parts that are not empty in one line, two spaces apart; `indent` columns are taken already. */
export function toLine(
  { tint, width }: Pick<Terminal, 'tint' | 'width'>,
  parts: readonly Part[],
  indent = 0,
): string {
  const most = width - indent;
  const isTooLong = (some: readonly Part[]): boolean =>
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

/** A field with its value: text whole, over several lines where it needs them; anything else as JSON, cut. */
export function sayField({ say, tint, width }: Terminal, name: string, value: unknown): void {
  const [first = '', ...more] =
    typeof value === 'string'
      ? wrapText(name + value, name.length, width)
      : [cutText(name + JSON.stringify(value), width)];
  say((tint('faint', name) + first.slice(name.length)).trimEnd());
  more.forEach(say);
}

/** Takes what is too much from the widest of those that may be cut. */
function shrink(widths: number[], columns: readonly Pick<Part, 'cut'>[], most: number): void {
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
