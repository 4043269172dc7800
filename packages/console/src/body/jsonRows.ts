/** Flattens a JSON value into visible lines for a virtual list. */
import type { NoteOf } from './jsonNotes.ts';

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

export interface JsonRow {
  /** JSONPath of the line, such as `$.logs[0].topic0`. */
  path: string;
  depth: number;
  key: string;
  kind: JsonKind;
  /** The JSON of a scalar; empty for a container. */
  text: string;
  /** Number of members of a container; 0 for a scalar. */
  size: number;
  open: boolean;
  /** Whether the container is initially open. */
  openAtFirst: boolean;
  /** Explanation of the value; empty if there is nothing to add. */
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

const isContainer = (value: unknown): value is object =>
  typeof value === 'object' && value !== null;

const sizeOf = (value: object): number =>
  Array.isArray(value) ? value.length : Object.keys(value).length;

/**
 * Returns whether a container is open at first: a field of the body unless it is empty, and a
 * member of a field if it has 1 to 20 entries. The ABI stays closed, because it is the same in
 * every delivery of a stream.
 */
function isOpenAtFirst(size: number, key: string | number, depth: number): boolean {
  if (depth > 2 || (depth === 1 && key === 'abi')) return false;
  return size > 0 && (depth === 1 || size <= 20);
}

/**
 * Determines which containers are open. `start` opens the initial ones (`first`), all or none;
 * `toggled` contains the paths of the exceptions.
 */
export interface OpenState {
  start: 'first' | 'all' | 'none';
  toggled: ReadonlySet<string>;
  /** Paths of the containers that a search has opened, regardless of `start` and `toggled`. */
  revealed: ReadonlySet<string>;
}

export const OPEN_AT_FIRST: OpenState = {
  start: 'first',
  toggled: new Set(),
  revealed: new Set(),
};

export const isSameOpenState = (a: OpenState, b: OpenState): boolean =>
  a.start === b.start && isSameSet(a.toggled, b.toggled) && isSameSet(a.revealed, b.revealed);

const isSameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a === b || (a.size === b.size && [...a].every((path) => b.has(path)));

/** Closes the container that a row shows if the container is open; otherwise, opens it. */
export function withToggled({ start, toggled, revealed }: OpenState, row: JsonRow): OpenState {
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
  { start, toggled, revealed }: OpenState,
  { path, openAtFirst }: Pick<JsonRow, 'path' | 'openAtFirst'>,
): boolean =>
  revealed.has(path) || (start === 'first' ? openAtFirst : start === 'all') !== toggled.has(path);

const NO_NOTES: NoteOf = () => '';

/** The visible lines. Rows are created on demand, because only a few of 100,000 are on screen. */
export interface JsonLines {
  count: number;
  /** Returns the row of a line; `line` must be less than `count`. */
  row(line: number): JsonRow;
  /** Returns the line of a path, or -1 if no line has it. */
  indexOf(path: string): number;
}

/** An open container and the layout of its lines. */
interface Opened {
  value: object;
  /** Number of lines inside, including the lines of open members. */
  count: number;
  /** Open members, by index; undefined if there are none. */
  inner: readonly (Opened | undefined)[] | undefined;
  /**
   * Line of each member, counted from the first member; undefined if every member takes one line.
   */
  starts: Uint32Array | undefined;
}

/** Lays out the open containers, not every line, because most lines of a long body are scalars. */
export function toJsonLines(
  root: unknown,
  openState: OpenState,
  noteOf: NoteOf = NO_NOTES,
): JsonLines {
  if (!isContainer(root)) {
    return {
      count: 1,
      row: () => toRow('$', 1, '', root, undefined, false, noteOf),
      indexOf: (path) => (path === '$' ? 0 : -1),
    };
  }
  const opened = open(root, keysOf(root), 1, '$', openState);
  return {
    count: opened.count,
    row: (line) => rowOf(opened, line, noteOf),
    indexOf: (path) => lineOf(opened, path),
  };
}

/** Returns the keys of an object; undefined for an array. */
const keysOf = (value: object): readonly string[] | undefined =>
  Array.isArray(value) ? undefined : Object.keys(value);

/**
 * Lays out the members of an open container. Reads the keys of each object only once, because
 * reading keys takes most of the time for a long body.
 * @param depth the depth of the members; 1 for members of the root.
 */
function open(
  value: object,
  keys: readonly string[] | undefined,
  depth: number,
  path: string,
  openState: OpenState,
): Opened {
  const hasExceptions = openState.toggled.size > 0 || openState.revealed.size > 0;
  const length = keys?.length ?? (value as readonly unknown[]).length;
  let count = 0;
  let inner: (Opened | undefined)[] | undefined;
  let starts: Uint32Array | undefined;
  for (let index = 0; index < length; index++) {
    if (starts !== undefined) starts[index] = count;
    count++;
    const key = keys?.[index] ?? index;
    const member = memberOf(value, key);
    if (!isContainer(member)) continue;
    const memberKeys = keysOf(member);
    const size = memberKeys?.length ?? (member as readonly unknown[]).length;
    if (size === 0) continue;
    // The path is needed only to look up exceptions.
    const memberPath = hasExceptions ? childPath(path, key) : '';
    const openAtFirst = openState.start === 'first' && isOpenAtFirst(size, key, depth);
    if (!isOpenBy(openState, { path: memberPath, openAtFirst })) continue;
    if (inner === undefined || starts === undefined) {
      inner = Array.from({ length });
      starts = new Uint32Array(length);
      for (let before = 0; before <= index; before++) starts[before] = before;
    }
    const members = open(member, memberKeys, depth + 1, memberPath, openState);
    inner[index] = members;
    count += members.count;
  }
  return { value, count, inner, starts };
}

const memberOf = (value: object, key: string | number): unknown =>
  (value as Record<string | number, unknown>)[key];

function rowOf(outermost: Opened, line: number, noteOf: NoteOf): JsonRow {
  let opened = outermost;
  let path = '$';
  let left = line;
  for (let depth = 1; ; depth++) {
    const { value, starts, inner } = opened;
    const index = starts === undefined ? left : lastUpTo(starts, left);
    const key = Array.isArray(value) ? index : Object.keys(value)[index]!;
    path = childPath(path, key);
    left -= starts?.[index] ?? index;
    const next = inner?.[index];
    if (left === 0 || next === undefined) {
      return toRow(path, depth, key, memberOf(value, key), value, next !== undefined, noteOf);
    }
    left--;
    opened = next;
  }
}

/** Returns the index of the last number that is at most `most`. The numbers are ascending. */
function lastUpTo(numbers: Uint32Array, most: number): number {
  let from = 0;
  let to = numbers.length;
  while (to - from > 1) {
    const middle = (from + to) >>> 1;
    if (numbers[middle]! <= most) from = middle;
    else to = middle;
  }
  return from;
}

function lineOf({ value, starts, inner }: Opened, wanted: string, path = '$'): number {
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  const index = keys.findIndex((key) => isWithin(wanted, childPath(path, key)));
  if (index === -1) return -1;
  const line = starts?.[index] ?? index;
  const memberPath = childPath(path, keys[index]!);
  if (memberPath === wanted) return line;
  const members = inner?.[index];
  const below = members === undefined ? -1 : lineOf(members, wanted, memberPath);
  return below === -1 ? -1 : line + 1 + below;
}

/** Returns whether a path is `outer`, or continues it with a dot or a bracket. */
const isWithin = (path: string, outer: string): boolean =>
  path.startsWith(outer) && (path.length === outer.length || '.['.includes(path[outer.length]!));

function toRow(
  path: string,
  depth: number,
  key: string | number,
  value: unknown,
  parent: unknown,
  open: boolean,
  noteOf: NoteOf,
): JsonRow {
  const note = noteOf(String(key), value, parent);
  const line = { path, depth, key: String(key), kind: kindOf(value), open, note };
  if (!isContainer(value)) {
    return { ...line, text: JSON.stringify(value), size: 0, openAtFirst: false };
  }
  const size = sizeOf(value);
  return { ...line, text: '', size, openAtFirst: isOpenAtFirst(size, key, depth) };
}

/** A line whose key or value contains the search text. */
export interface JsonHit {
  path: string;
  /** Paths of the containers around the line, outermost first. */
  within: string[];
}

/** Maximum number of matches; users do not step through more. */
export const MAX_HITS = 1000;

/** Finds keys and values that contain a string, ignoring case, in the order of the lines. */
export function findInJson(root: unknown, text: string): JsonHit[] {
  // A case-insensitive pattern is twice as fast as lowercasing every value.
  const wanted = new RegExp(text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
  const hits: JsonHit[] = [];
  const keysWith = new Map<string, boolean>();
  const isKeyWith = (key: string): boolean => {
    const known = keysWith.get(key);
    if (known !== undefined) return known;
    const isWith = wanted.test(key);
    keysWith.set(key, isWith);
    return isWith;
  };
  /** Keys of the containers around the current value. */
  const way: (string | number)[] = [];
  const addHit = (key: string | number): void => {
    let path = '$';
    const within = way.map((each) => (path = childPath(path, each)));
    hits.push({ path: childPath(path, key), within });
  };
  const look = (key: string | number, member: unknown): void => {
    if (hits.length >= MAX_HITS) return;
    if (isContainer(member)) {
      if (typeof key === 'string' && isKeyWith(key)) addHit(key);
      way.push(key);
      visit(member);
      way.pop();
    } else if ((typeof key === 'string' && isKeyWith(key)) || wanted.test(String(member))) {
      addHit(key);
    }
  };
  const visit = (value: object): void => {
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) look(index, value[index]);
    } else {
      for (const key of Object.keys(value)) look(key, (value as Record<string, unknown>)[key]);
    }
  };
  if (text !== '' && isContainer(root)) visit(root);
  return hits;
}
