/**
 * Parses lists of addresses (CSV, TSV or plain text, one address per line, with optional labels),
 * and writes them as CSV.
 */
import type { NetworkType } from '@sluice/kit';
import { cutText, type WatchedAddress } from '@sluice/kit/sluice';
import { checksumAddress, isAddressLabel, parseCsvRow, toCsv } from '@sluice/kit/contract';
import { addressOfUrl, recognise } from '../../../words/paste.ts';

export interface AddressRow {
  /** Address in lowercase; on Aptos, padded to 64 digits. */
  address: string;
  /** Label of the address; empty if the address has none. */
  label: string;
}

export interface RejectedLine {
  /** Line number, starting at 1. */
  line: number;
  /**
   * The cell that was read as the address, or the full line if no cell looks like one. Long text is
   * truncated.
   */
  text: string;
  label: string;
  reason: string;
}

/** A line that was accepted but may be a mistake. */
export interface DoubtfulLine {
  line: number;
  address: string;
  reason: string;
}

export interface AddressList {
  rows: AddressRow[];
  rejects: RejectedLine[];
  doubts: DoubtfulLine[];
  /** Number of lines that repeat an earlier address. */
  duplicates: number;
}

const PATTERNS: Record<NetworkType, RegExp> = {
  evm: /^0x[0-9a-f]{40}$/,
  aptos: /^0x[0-9a-f]{1,64}$/,
};

/** Maximum length of the text and of the label of a rejected line. */
const MAX_TEXT_LENGTH = 200;

/** Matches a header line. */
const HEAD = /address|account|wallet|contract/i;
const LABEL_HEAD = /^(label|name|tag)$/i;

/** File types that may contain a list, for the `accept` attribute of a file input. */
export const LIST_FILES = '.csv,.txt,.tsv,text/csv,text/plain';

/** Sample lists that users can download and edit. */
export const SAMPLE_LISTS: Readonly<Record<NetworkType, string>> = {
  evm: `address,label
0x28C6c06298d514Db089934071355E5743bf21d60,binance-14
0xdAC17F958D2ee523a2206206994597C13D831ec7,"Tether USD, the contract"
# Labels are optional. Lines that start with # are ignored.
0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48
`,
  aptos: `address,label
0x1,framework
0x3,"Token objects, legacy"
# Labels are optional. Lines that start with # are ignored.
0x4
`,
};

/**
 * Reads the first address of each line. Its label is in the column that the header names `label`,
 * `name` or `tag`; without such a column, it is the first other cell that is not empty.
 */
export function parseAddressList(text: string, family: NetworkType): AddressList {
  const rows: AddressRow[] = [];
  const rejects: RejectedLine[] = [];
  const doubts: DoubtfulLine[] = [];
  const reject = (index: number, text: string, label: string, reason: string): void => {
    rejects.push({ line: index + 1, text: cut(text), label: cut(label), reason });
  };
  const seen = new Set<string>();
  let duplicates = 0;
  const pattern = PATTERNS[family];
  const lines = text.replace(/^\u{feff}/u, '').split(/\r\n|\r|\n/);
  let labelAt = -1;
  for (const [index, full] of lines.entries()) {
    const line = full.trim();
    if (line === '' || line.startsWith('#')) continue;
    const cells = cellsOf(line);
    const at = cells.findIndex((cell, place) => place !== labelAt && /^0x/i.test(addressIn(cell)));
    if (at === -1) {
      if (index === 0 && HEAD.test(line)) {
        labelAt = cells.findIndex((cell) => LABEL_HEAD.test(cell));
      } else {
        reject(
          index,
          line,
          '',
          nameOf(line) === undefined ? 'No address found' : 'Enter the address instead of the name',
        );
      }
      continue;
    }
    const label =
      (labelAt === -1
        ? cells.find((cell, place) => place !== at && cell !== '')
        : cells[labelAt]) ?? '';
    const given = addressIn(cells[at] ?? '');
    const address = given.toLowerCase();
    if (!pattern.test(address)) {
      reject(index, given, label, reasonOf(address, family));
      continue;
    }
    if (!isAddressLabel(label)) {
      reject(
        index,
        address,
        label,
        'The label is longer than 64 characters or has control characters',
      );
      continue;
    }
    const padded = family === 'aptos' ? `0x${address.slice(2).padStart(64, '0')}` : address;
    if (seen.has(padded)) {
      duplicates += 1;
      continue;
    }
    seen.add(padded);
    rows.push({ address: padded, label });
    const doubt = doubtOf(given, padded, family);
    if (doubt !== undefined) doubts.push({ line: index + 1, address: given, reason: doubt });
  }
  return { rows, rejects, doubts, duplicates };
}

const addressIn = (cell: string): string => addressOfUrl(cell) ?? cell;

/** Addresses with valid checksums, cached because the form parses its list on each keystroke. */
const right = new Set<string>();
const MAX_RIGHT = 5_000;

/** Returns why an accepted address may be a mistake; undefined if it looks correct. */
function doubtOf(given: string, address: string, family: NetworkType): string | undefined {
  if (/^0x0+$/.test(address)) {
    return family === 'evm'
      ? 'This is the zero address, which is part of every mint and burn'
      : 'This is the zero address, which has no owner';
  }
  // Addresses with only lowercase or only uppercase letters have no checksum.
  const isMixed = family === 'evm' && /[a-f]/.test(given.slice(2)) && /[A-F]/.test(given);
  if (!isMixed || right.has(given)) return undefined;
  if (checksumAddress(address) !== `0x${given.slice(2)}`) {
    return 'The EIP-55 checksum does not match: the address may have a typo';
  }
  if (right.size >= MAX_RIGHT) right.clear();
  right.add(given);
  return undefined;
}

/** Returns the unique ENS names at the start of rejected lines. */
export const namesIn = (rejects: readonly RejectedLine[]): string[] => [
  ...new Set(rejects.flatMap(({ text }) => nameOf(text) ?? [])),
];

function nameOf(line: string): string | undefined {
  const found = recognise(line.split(/[,;\t]/)[0] ?? '');
  return found?.kind === 'ens-name' ? found.name : undefined;
}

/**
 * Replaces an ENS name at the start of a line with `address`, in all lines. The name becomes the
 * label of each line without one.
 */
export const withAddressOf = (text: string, name: string, address: string): string =>
  text
    .split('\n')
    .map((line) => {
      const [first = '', ...rest] = line.split(/[,;\t]/);
      if (first.trim().toLowerCase() !== name) return line;
      const label = rest.join(',').trim();
      return `${address}, ${label === '' ? name : label}`;
    })
    .join('\n');

const cut = (text: string): string => cutText(text, MAX_TEXT_LENGTH);

function reasonOf(address: string, family: NetworkType): string {
  const digits = address.slice(2);
  if (!/^[0-9a-f]*$/.test(digits)) return 'A character is not a hex digit';
  return family === 'evm'
    ? `An EVM address has 40 digits, not ${digits.length}`
    : `An Aptos address has 1 to 64 digits, not ${digits.length}`;
}

/** Splits a line of CSV or TSV into cells, or of plain text at the first space. */
const cellsOf = (line: string): string[] =>
  /[",;\t]/.test(line) ? parseCsvRow(line) : line.split(/\s+(.*)/s, 2);

/** The header of the rows that {@link toAddressRows} writes. */
export const ADDRESS_HEADER = toCsv([['address', 'label', 'added', 'added by']]);

/** Returns addresses as rows of a CSV file that can be imported again. */
export const toAddressRows = (addresses: readonly WatchedAddress[]): string =>
  toCsv(
    addresses.map(({ address, label = '', addedAt, addedBy }) => [
      address,
      label,
      new Date(addedAt).toISOString(),
      addedBy,
    ]),
  );

/** Returns the rejected lines as CSV, so that they can be fixed and imported again. */
export const toRejectsCsv = (rejects: readonly RejectedLine[]): string =>
  toCsv([
    ['address', 'label', 'line', 'reason'],
    ...rejects.map(({ line, text, label, reason }) => [text, label, line, reason]),
  ]);
