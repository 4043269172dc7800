/** A list of addresses as people have it: CSV, or one to a line, with or without labels. Pure. */
import type { NetworkType } from '@sluice/kit';

export interface AddressRow {
  /** Lower case, with all digits. */
  address: string;
  /** Empty where there is none. */
  label: string;
}

export interface RejectedLine {
  /** 1 for the first. */
  line: number;
  text: string;
  reason: string;
}

export interface AddressList {
  rows: AddressRow[];
  rejects: RejectedLine[];
  /** Lines whose address an earlier line has already. */
  duplicates: number;
}

const PATTERNS: Record<NetworkType, RegExp> = {
  evm: /^0x[0-9a-f]{40}$/,
  aptos: /^0x[0-9a-f]{1,64}$/,
};

/** Of a label; the service takes no longer one. */
const LONGEST_LABEL = 64;
/** Of a line in the list of rejects. */
const LONGEST_TEXT = 200;
const CONTROL = /\p{Cc}/u;

/** Lines are kept apart by line breaks; within a line, the address is the first thing that is one. */
export function parseAddressList(text: string, family: NetworkType): AddressList {
  const rows: AddressRow[] = [];
  const rejects: RejectedLine[] = [];
  const seen = new Set<string>();
  let duplicates = 0;
  const pattern = PATTERNS[family];
  const lines = text.split(/\r\n|\r|\n/);
  for (const [index, whole] of lines.entries()) {
    const line = whole.trim();
    if (line === '' || line.startsWith('#')) continue;
    const cells = cellsOf(line);
    const at = cells.findIndex((cell) => /^0x/i.test(cell));
    if (at === -1) {
      // The first line may say what the columns are.
      if (index > 0 || !/address|account|wallet|contract/i.test(line)) {
        rejects.push(reject(index, line, 'has no address'));
      }
      continue;
    }
    const address = (cells[at] ?? '').toLowerCase();
    if (!pattern.test(address)) {
      rejects.push(reject(index, line, reasonOf(address, family)));
      continue;
    }
    const label = cells.find((cell, place) => place !== at && cell !== '') ?? '';
    if (label.length > LONGEST_LABEL || CONTROL.test(label)) {
      rejects.push(reject(index, line, `has a label of more than ${LONGEST_LABEL} characters`));
      continue;
    }
    const padded = family === 'aptos' ? `0x${address.slice(2).padStart(64, '0')}` : address;
    if (seen.has(padded)) {
      duplicates += 1;
      continue;
    }
    seen.add(padded);
    rows.push({ address: padded, label });
  }
  return { rows, rejects, duplicates };
}

const reject = (index: number, text: string, reason: string): RejectedLine => ({
  line: index + 1,
  text: text.slice(0, LONGEST_TEXT),
  reason,
});

function reasonOf(address: string, family: NetworkType): string {
  const digits = address.slice(2);
  if (!/^[0-9a-f]*$/.test(digits)) return 'has a character that is no hex digit';
  return family === 'evm'
    ? `has ${digits.length} digits; an EVM address has 40`
    : `has ${digits.length} digits; an Aptos address has 1 to 64`;
}

/** The cells of a line of CSV, TSV or plain text; quotes as spreadsheets write them. */
function cellsOf(line: string): string[] {
  if (!line.includes('"')) {
    return (/[,;\t]/.test(line) ? line.split(/[,;\t]/) : line.split(/\s+(.*)/s, 2)).map((cell) =>
      cell.trim(),
    );
  }
  const cells: string[] = [];
  for (const [, quoted, plain] of line.matchAll(/"((?:[^"]|"")*)"|([^,;\t]+)/g)) {
    cells.push((quoted?.replaceAll('""', '"') ?? plain ?? '').trim());
  }
  return cells;
}

/** The rejected lines as CSV, to be repaired and imported again. None is a formula to a spreadsheet. */
export function toRejectsCsv(rejects: readonly RejectedLine[]): string {
  const cell = (text: string): string =>
    `"${text.replace(/^(?=[=+\-@\t\r])/, "'").replaceAll('"', '""')}"`;
  return [
    'line,text,reason',
    ...rejects.map(({ line, text, reason }) => `${line},${cell(text)},${cell(reason)}`),
  ].join('\n');
}
