/**
 * Parses lists of addresses with optional labels: plain text with one address per line, CSV and
 * TSV.
 */
import { isAddressLabel } from '../contract/rules/addressLabel.ts';
import { parseCsvRow, toCsv } from '../contract/rules/csv.ts';
import { addressOfUrl } from '../contract/rules/explorerUrls.ts';
import { cutText } from '../contract/rules/text.ts';
import type { ChainFamily, WatchedAddress } from '../contract/shapes.generated.ts';
import type { AddressFormat } from '../families/addressFormat.ts';
import { ADDRESS_FORMATS } from '../families/addresses.ts';

export interface ListedAddress {
  /** Address in lowercase, with all leading zeros. */
  address: string;
  label?: string;
}

export interface RejectedLine {
  /** Line number, starting at 1. */
  line: number;
  /** The line, as in the list. */
  source: string;
  /** The cell that was read as the address, or the line if none looks like one; cut to 200 characters. */
  text: string;
  reason: string;
}

/** A line that was accepted but may be a mistake. */
export interface DoubtfulLine {
  line: number;
  /** The address, as in the list. */
  address: string;
  reason: string;
}

export interface AddressList {
  /** Addresses in the order of the list, each once. */
  rows: ListedAddress[];
  rejects: RejectedLine[];
  doubts: DoubtfulLine[];
  /** Number of lines that repeat an earlier address. */
  duplicates: number;
  /** The line that names the columns; undefined if the list has none. */
  header: string | undefined;
}

/** Maximum length of the text of a rejected line. */
const MAX_TEXT_LENGTH = 200;

/** Matches the line that names the columns. */
const HEADER = /address|account|wallet|contract/i;
const LABEL_COLUMN = /^(label|name|tag)$/i;
const NAME = /^[^\s./\\]+(\.[^\s./\\]+)*\.(eth|apt)$/iu;

/**
 * Parses a list of addresses of one chain family. Empty lines and lines that start with `#` are
 * ignored. The first other line may name the columns. The address of a line is in the column
 * `address` or, without one, in the first cell that starts with `0x` or that is the URL of an
 * explorer's page about an address. Its label is in the column `label`, `name` or `tag` or, if the
 * list has no header, in the first other cell that is not empty.
 *
 * @param labelColumn name, or number from 1, of the column with the labels
 * @throws RangeError if the list has no column `labelColumn`
 */
export function parseAddressList(
  text: string,
  family: ChainFamily,
  labelColumn?: string,
): AddressList {
  const format = ADDRESS_FORMATS[family];
  const list: AddressList = { rows: [], rejects: [], doubts: [], duplicates: 0, header: undefined };
  const seen = new Set<string>();
  let columns: Columns | undefined;
  for (const [index, source] of text
    .replace(/^\u{feff}/u, '')
    .split(/\r\n|\r|\n/)
    .entries()) {
    const line = source.trim();
    if (line === '' || line.startsWith('#')) continue;
    const cells = cellsOf(line);
    if (columns === undefined) {
      const isHeader = !cells.some((cell) => startsAsAddress(addressIn(cell))) && HEADER.test(line);
      columns = toColumns(isHeader ? cells : undefined, labelColumn);
      if (isHeader) {
        list.header = line;
        continue;
      }
    }
    const { address: addressAt, label: labelAt } = columns;
    const at =
      addressAt ??
      cells.findIndex((cell, place) => place !== labelAt && startsAsAddress(addressIn(cell)));
    const given = addressIn(cells[at] ?? cells[0] ?? '');
    const label =
      labelAt === 'first other'
        ? cells.find((cell, place) => place !== at && cell !== '')
        : cells[labelAt ?? -1];
    const row = readRow(given, label ?? '', format);
    if (typeof row === 'string') {
      const text = cutText(startsAsAddress(given) ? given : line, MAX_TEXT_LENGTH);
      list.rejects.push({ line: index + 1, source, text, reason: row });
    } else if (seen.has(row.address)) {
      list.duplicates += 1;
    } else {
      seen.add(row.address);
      list.rows.push(row);
      const reason = format.doubtOf(given, row.address);
      if (reason !== undefined) list.doubts.push({ line: index + 1, address: given, reason });
    }
  }
  return list;
}

/**
 * Returns a list of the rejected lines that can be corrected and parsed again: the header, then
 * each line below a comment with its number and the reason.
 */
export const toRejectedList = ({
  rejects,
  header,
}: Pick<AddressList, 'rejects' | 'header'>): string =>
  [
    ...(header === undefined ? [] : [`${header}\n`]),
    ...rejects.map(({ line, source, reason }) => `# Line ${line}: ${reason}\n${source}\n`),
  ].join('');

/** Positions of a line's cells, from 0. */
interface Columns {
  /** Undefined if the list does not name the column. */
  readonly address: number | undefined;
  readonly label: number | 'first other' | undefined;
}

function toColumns(header: string[] | undefined, wanted: string | undefined): Columns {
  const names = header?.map((cell) => cell.toLowerCase());
  const address = names?.includes('address') ? names.indexOf('address') : undefined;
  if (wanted === undefined) {
    if (header === undefined) return { address, label: 'first other' };
    const label = header.findIndex((cell) => LABEL_COLUMN.test(cell));
    return { address, label: label >= 0 ? label : undefined };
  }
  const label = /^\d+$/.test(wanted)
    ? Number(wanted) - 1
    : (names ?? ['address', 'label']).indexOf(wanted.toLowerCase());
  if (label < 0) {
    throw new RangeError(
      `The list has no column ${wanted}. Its columns are ${(header ?? ['address', 'label']).join(', ')}.`,
    );
  }
  return { address, label };
}

const addressIn = (cell: string): string => addressOfUrl(cell) ?? cell;

const startsAsAddress = (cell: string): boolean => /^0x/i.test(cell);

/** Returns the address and label of a line, or why they are not valid. */
function readRow(given: string, label: string, format: AddressFormat): ListedAddress | string {
  if (!startsAsAddress(given)) {
    return NAME.test(given) ? 'Enter the address instead of the name' : 'No address found';
  }
  const address = format.toAddress(given);
  if (address === undefined) return reasonOf(given.slice(2), format);
  return isAddressLabel(label)
    ? { address, ...(label !== '' && { label }) }
    : 'The label is longer than 64 characters or has control characters';
}

function reasonOf(hex: string, { digits }: AddressFormat): string {
  return /^[0-9a-f]*$/i.test(hex)
    ? `${digits}, not ${hex.length}`
    : 'A character is not a hex digit';
}

/** Splits a line of CSV or TSV into cells, or of plain text at the first space. */
const cellsOf = (line: string): string[] =>
  /[",;\t]/.test(line) ? parseCsvRow(line) : line.split(/\s+(.*)/s, 2);

/** The header of the rows that {@link toAddressRows} writes. */
export const ADDRESS_HEADER = toCsv([['address', 'label', 'added', 'added by']]);

/** Returns addresses as rows of a CSV file that {@link parseAddressList} reads. */
export const toAddressRows = (addresses: readonly WatchedAddress[]): string =>
  toCsv(
    addresses.map(({ address, label = '', addedAt, addedBy }) => [
      address,
      label,
      new Date(addedAt).toISOString(),
      addedBy,
    ]),
  );
