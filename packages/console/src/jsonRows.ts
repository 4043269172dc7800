/** A JSON value as the flat list of visible lines that a virtual list can draw. Pure. */
import { formatAmount, formatDateTime } from './format.ts';

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

export interface JsonRow {
  /** `$.logs[0].topic0`, usable in jq and JSONPath. */
  path: string;
  depth: number;
  key: string;
  kind: JsonKind;
  /** Scalars: as written in JSON. Containers: empty. */
  text: string;
  /** Containers: how many members. */
  size: number;
  open: boolean;
  /** Whether it is short enough to be open before anybody asks. */
  openAtFirst: boolean;
  /** What the value means, for people; empty when there is nothing to add. */
  note: string;
}

const kindOf = (value: unknown): JsonKind => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'object') return 'object';
  return typeof value as JsonKind;
};

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

const childPath = (path: string, key: string | number): string => {
  if (typeof key === 'number') return `${path}[${key}]`;
  return IDENTIFIER.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
};

const membersOf = (value: unknown): [string | number, unknown][] =>
  Array.isArray(value)
    ? value.map((item, index) => [index, item])
    : Object.entries(value as Record<string, unknown>);

/**
 * Open at first: the body, its block, and lists and records short enough to read at once. Not the
 * ABI: it is the stream's, the same in every delivery.
 */
function isOpenAtFirst(value: unknown, path: string, depth: number): boolean {
  if (path === '$.abi') return false;
  const size = membersOf(value).length;
  if (size === 0) return false;
  if (depth <= 1) return true;
  return depth === 2 && size <= 20;
}

/** What is open: `first` is what can be read at once; `toggled` are the exceptions from it. */
export interface Openness {
  start: 'first' | 'all' | 'none';
  toggled: ReadonlySet<string>;
  /** Open whatever else is said: the way to something that was found. */
  revealed: ReadonlySet<string>;
}

export const OPEN_AT_FIRST: Openness = {
  start: 'first',
  toggled: new Set(),
  revealed: new Set(),
};

export const isSameOpenness = (a: Openness, b: Openness): boolean =>
  a.start === b.start && isSameSet(a.toggled, b.toggled) && isSameSet(a.revealed, b.revealed);

const isSameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a === b || (a.size === b.size && [...a].every((path) => b.has(path)));

/** Opens or closes one container, which is open or not as its row says. */
export function withToggled({ start, toggled, revealed }: Openness, row: JsonRow): Openness {
  const nextRevealed = new Set(revealed);
  const nextToggled = new Set(toggled);
  const wasRevealed = nextRevealed.delete(row.path);
  const isStillOpen = wasRevealed && isOpenBy({ start, toggled, revealed: nextRevealed }, row);
  if (!wasRevealed || isStillOpen) {
    if (!nextToggled.delete(row.path)) nextToggled.add(row.path);
  }
  return { start, toggled: nextToggled, revealed: nextRevealed };
}

const isOpenBy = (
  { start, toggled, revealed }: Openness,
  { path, openAtFirst }: Pick<JsonRow, 'path' | 'openAtFirst'>,
): boolean =>
  revealed.has(path) || (start === 'first' ? openAtFirst : start === 'all') !== toggled.has(path);

export function toJsonRows(root: unknown, openness: Openness): JsonRow[] {
  const rows: JsonRow[] = [];
  const visit = (
    key: string,
    value: unknown,
    path: string,
    depth: number,
    parent: unknown,
  ): void => {
    const kind = kindOf(value);
    if (kind !== 'object' && kind !== 'array') {
      rows.push({
        path,
        depth,
        key,
        kind,
        text: JSON.stringify(value),
        size: 0,
        open: false,
        openAtFirst: false,
        note: noteFor(key, value, parent),
      });
      return;
    }
    const members = membersOf(value);
    const openAtFirst = isOpenAtFirst(value, path, depth);
    const open = members.length > 0 && isOpenBy(openness, { path, openAtFirst });
    rows.push({
      path,
      depth,
      key,
      kind,
      text: '',
      size: members.length,
      open,
      openAtFirst,
      note: open ? '' : recordNote(value),
    });
    if (!open) return;
    for (const [name, member] of members) {
      visit(String(name), member, childPath(path, name), depth + 1, value);
    }
  };
  // The outermost braces say nothing: its members stand at the left edge.
  if (kindOf(root) === 'object' || kindOf(root) === 'array') {
    for (const [name, member] of membersOf(root)) {
      visit(String(name), member, childPath('$', name), 1, root);
    }
  } else {
    visit('', root, '$', 1, undefined);
  }
  return rows;
}

/** A key or value that holds what was looked for. */
export interface JsonHit {
  path: string;
  /** Paths of the containers around it, from the outside. */
  within: string[];
}

/** More are not counted: nobody steps through them. */
export const MAX_HITS = 1000;

/** Keys and values with this text in them, in either case, in the order of the lines. */
export function findInJson(root: unknown, text: string): JsonHit[] {
  const wanted = text.toLowerCase();
  const hits: JsonHit[] = [];
  const visit = (value: unknown, path: string, within: string[]): void => {
    const around = path === '$' ? within : [...within, path];
    for (const [key, member] of membersOf(value)) {
      if (hits.length >= MAX_HITS) return;
      const kind = kindOf(member);
      const isContainer = kind === 'object' || kind === 'array';
      const at = childPath(path, key);
      if (
        (typeof key === 'string' && key.toLowerCase().includes(wanted)) ||
        (!isContainer && String(member).toLowerCase().includes(wanted))
      ) {
        hits.push({ path: at, within: around });
      }
      if (isContainer) visit(member, at, around);
    }
  };
  const kind = kindOf(root);
  if (wanted !== '' && (kind === 'object' || kind === 'array')) visit(root, '$', []);
  return hits;
}

/** Signatures of the events that most streams watch, by topic0. */
export const KNOWN_EVENTS: Readonly<Record<string, string>> = {
  '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef':
    'Transfer(address,address,uint256)',
  '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925':
    'Approval(address,address,uint256)',
  '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31':
    'ApprovalForAll(address,address,bool)',
  '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62':
    'TransferSingle(address,address,address,uint256,uint256)',
};

const field = (value: unknown, name: string): unknown =>
  kindOf(value) === 'object' ? (value as Record<string, unknown>)[name] : undefined;

/** `1,200.5 USDT` for a record that names its token; empty otherwise. */
function amountOf(record: unknown): string {
  const value = field(record, 'value');
  const decimals = field(record, 'tokenDecimals');
  const symbol = field(record, 'tokenSymbol');
  if (typeof value !== 'string' || typeof decimals !== 'string' || decimals === '') return '';
  const amount = formatAmount(value, Number(decimals));
  if (amount === null) return '';
  return typeof symbol === 'string' && symbol !== '' ? `${amount} ${symbol}` : amount;
}

function recordNote(record: unknown): string {
  const topic0 = field(record, 'topic0');
  if (typeof topic0 === 'string') return KNOWN_EVENTS[topic0] ?? '';
  return amountOf(record);
}

function noteFor(key: string, value: unknown, parent: unknown): string {
  if (typeof value !== 'string') return '';
  if (key === 'topic0') return KNOWN_EVENTS[value] ?? '';
  if (key === 'value') return amountOf(parent);
  if (key === 'timestamp' && /^\d{9,11}$/.test(value)) return formatDateTime(Number(value) * 1000);
  return '';
}
