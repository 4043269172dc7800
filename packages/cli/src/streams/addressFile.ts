/** Parses address files: one address per line, or a CSV with addresses and labels. */
import { readFileSync } from 'node:fs';
import { isAddressLabel, parseCsvRow } from '@sluice/kit/contract';
import { CommandError } from '../terminal/errors.ts';

export interface ListedAddress {
  address: string;
  label?: string;
}

export interface RejectedLine {
  /** Line number, from 1. */
  line: number;
  text: string;
  why: string;
}

export interface AddressFile {
  /** Addresses in file order, without duplicates. */
  addresses: ListedAddress[];
  rejects: RejectedLine[];
  /** The first line, if it names the columns; otherwise undefined. */
  header: string | undefined;
  /** Number of lines that repeat an earlier address. */
  repeated: number;
}

export interface AddressFileOptions {
  /**
   * Name or number (from 1) of the label column. Default: the column `label`, if it exists; without
   * a header, the second column.
   */
  labelColumn?: string | undefined;
}

/** Matches EVM and Aptos addresses. The service checks that an address fits the stream's family. */
const ADDRESS = /^0x([\da-f]{40}|[\da-f]{1,64})$/i;

/**
 * @throws CommandError `invalid_file` if the file cannot be read; `usage` if the label column is 0
 * or an unknown name.
 */
export function readAddressFile(path: string, options: AddressFileOptions = {}): AddressFile {
  try {
    return parseAddresses(readFileSync(path, 'utf8'), options);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError('invalid_file', `${path}: ${(error as Error).message}`);
  }
}

function parseAddresses(text: string, { labelColumn }: AddressFileOptions = {}): AddressFile {
  const lines = text.replace(/^\u{feff}/u, '').split(/\r\n|\n|\r/);
  const [first = ''] = lines;
  const names = readHeader(first);
  const columns = names ?? ['address', 'label'];
  const addressAt = Math.max(0, columns.indexOf('address'));
  const labelAt = toColumn(columns, labelColumn);
  const found = new Map<string, ListedAddress>();
  const rejects: RejectedLine[] = [];
  let repeated = 0;
  for (const [at, line] of lines.entries()) {
    if ((names && at === 0) || line.trim() === '' || line.startsWith('#')) continue;
    const cells = parseCsvRow(line);
    const address = cells[addressAt] ?? '';
    const label = cells[labelAt] ?? '';
    const why = !ADDRESS.test(address)
      ? 'the address should be 0x and 40 hex digits, or up to 64 on Aptos'
      : isAddressLabel(label)
        ? undefined
        : 'the label should be at most 64 characters, without control characters';
    if (why !== undefined) rejects.push({ line: at + 1, text: line, why });
    else if (found.has(address.toLowerCase())) repeated++;
    else found.set(address.toLowerCase(), { address, ...(label !== '' && { label }) });
  }
  return { addresses: [...found.values()], rejects, header: names && first, repeated };
}

/**
 * Returns the column names if the first line is a header, which must have a column `address`;
 * otherwise undefined.
 */
function readHeader(line: string): string[] | undefined {
  const cells = parseCsvRow(line).map((cell) => cell.toLowerCase());
  return cells.includes('address') ? cells : undefined;
}

function toColumn(columns: readonly string[], wanted: string | undefined): number {
  if (wanted === undefined) return columns.indexOf('label');
  const at = /^\d+$/.test(wanted) ? Number(wanted) - 1 : columns.indexOf(wanted.toLowerCase());
  if (at >= 0) return at;
  throw new CommandError(
    'usage',
    `--label-column ${wanted}: the file has no such column`,
    `use one of ${columns.join(', ')}, or a column number from 1`,
  );
}
