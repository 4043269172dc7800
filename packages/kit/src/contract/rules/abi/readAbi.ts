/**
 * Reads the ABIs that compilers, explorers and libraries have produced, in one normal form: unknown
 * keys and null values are dropped, and types are spelled as in the ABI specification. Items that
 * have no certain meaning are left out. Of these, only events are reported, because streams use no
 * other items.
 */
import { parseEvent } from '../events.ts';
import { canonicalType, parseTuple } from '../signatures.ts';
import type { AbiItem, AbiParameter } from '../../shapes.generated.ts';
import { MAX_DEPTH } from './values.ts';

/** An event of an ABI that has no certain meaning, with the reason. */
export interface UncertainEvent {
  /** Name of the event; undefined if it has none. */
  readonly name: string | undefined;
  /** Position of the invalid value in the list of items. */
  readonly path: readonly (string | number)[];
  /** The invalid value, and what it should be. */
  readonly message: string;
}

/** An ABI in normal form. */
export interface NormalAbi {
  readonly items: AbiItem[];
  readonly uncertain: UncertainEvent[];
}

/**
 * Returns the items of an ABI as given; undefined if there are none. The ABI is a list of items, a
 * single item, an artifact that contains the list, or the JSON text of one of these.
 */
export function listAbi(given: unknown): readonly unknown[] | undefined {
  let inner = given;
  for (let layer = 0; layer < MAX_LAYERS; layer++) {
    if (Array.isArray(inner)) return inner;
    if (typeof inner === 'string') {
      inner = parseText(inner);
      continue;
    }
    if (!isObject(inner)) return undefined;
    const object = inner;
    const key = KEYS.find((each) => typeof object[each] === 'string' || isNested(object[each]));
    if (key === undefined) return isItem(object) ? [object] : undefined;
    inner = object[key];
  }
  return undefined;
}

/**
 * Keys of objects that contain an ABI: `abi` of Hardhat, Foundry, Truffle and Sourcify, `output` of
 * compiler metadata, `compilerOutput` of 0x, `result` of Etherscan, `interface` of solc before 0.5,
 * and `default` of a JSON module.
 */
const KEYS = ['abi', 'output', 'compilerOutput', 'result', 'interface', 'default'] as const;

/** Maximum number of objects and JSON strings around a list of items. */
const MAX_LAYERS = 6;

const isNested = (value: unknown): boolean => typeof value === 'object' && value !== null;

const isItem = (object: Fields): boolean =>
  typeof object['type'] === 'string' || isEventItem(object);

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns an ABI in normal form; undefined if {@link listAbi} finds no items. */
export function readAbi(given: unknown): NormalAbi | undefined {
  const list = listAbi(given);
  if (list === undefined) return undefined;
  const items: AbiItem[] = [];
  const uncertain: UncertainEvent[] = [];
  for (const [n, each] of list.entries()) {
    const read = isEventItem(each) ? readEvent(each, [n]) : readOther(each);
    if (read === undefined) continue;
    if ('message' in read) uncertain.push(read);
    else items.push(read);
  }
  return { items, uncertain };
}

/** Returns the events of a list of items, without those that have no certain meaning. */
export const readEvents = (list: readonly unknown[]): EventItem[] =>
  list.flatMap((each) => {
    const event = isEventItem(each) ? readEvent(each, []) : undefined;
    return event === undefined || 'message' in event ? [] : event;
  });

/**
 * Returns whether an item is an event. An item without a type is a function by the ABI's
 * specification, unless it has a property that only events have.
 */
export function isEventItem(item: unknown): boolean {
  if (typeof item === 'string') return EVENT_TEXT.test(item);
  if (!isObject(item)) return false;
  const { type, anonymous, inputs } = item;
  if (type !== undefined && type !== null) return type === 'event';
  const isIndexed = (each: unknown): boolean =>
    isObject(each) && typeof each['indexed'] === 'boolean';
  return typeof anonymous === 'boolean' || (Array.isArray(inputs) && inputs.some(isIndexed));
}

/** An event in normal form. */
export type EventItem = AbiItem & { name: string };

function readEvent(given: unknown, path: UncertainEvent['path']): EventItem | UncertainEvent {
  const event = attempt(() => {
    const item = isObject(given)
      ? readItem(given, 'event', path)
      : parseEvent(String(given).trim());
    if (item === undefined) throw new Uncertain(path, given, 'an event in Solidity');
    const most = item.anonymous ? 4 : 3;
    if ((item.inputs ?? []).filter(({ indexed }) => indexed).length > most) {
      const limit = `a list with at most ${most} indexed inputs`;
      throw new Uncertain([...path, 'inputs'], undefined, limit);
    }
    return item as EventItem;
  });
  if (!('message' in event)) return event;
  const name = isObject(given) ? given['name'] : EVENT_TEXT.exec(String(given))?.[1];
  return { ...event, name: typeof name === 'string' ? name : undefined };
}

/** Matches the start of an event in Solidity. */
const EVENT_TEXT = /^\s*event\s+([\w$]*)/;

const OTHER_TYPES: ReadonlySet<unknown> = new Set([
  ...['function', 'error', 'constructor', 'fallback', 'receive'],
]);

/** Reads an item that is not an event; undefined if it has no certain meaning. */
function readOther(item: unknown): AbiItem | undefined {
  const read = readFunction(item);
  return 'message' in read || !OTHER_TYPES.has(read.type) ? undefined : read;
}

/** A position in the given value, and what the value there should be. */
type Reason = Pick<UncertainEvent, 'path' | 'message'>;

/** Reads a function, or another item that is not an event; returns the reason if it is invalid. */
export const readFunction = (item: unknown): AbiItem | Reason =>
  attempt(() => {
    if (!isObject(item)) throw new Uncertain([], item, 'an ABI item');
    const type = item['type'] ?? 'function';
    return readItem(item, typeof type === 'string' ? type : '', []);
  });

function attempt<Read>(read: () => Read): Read | Reason {
  try {
    return read();
  } catch (error) {
    if (error instanceof Uncertain) return { path: error.path, message: error.message };
    throw error;
  }
}

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Thrown for a value without a certain meaning. */
class Uncertain extends Error {
  readonly path: UncertainEvent['path'];

  /** @param value the invalid value; undefined if it is too large to show */
  constructor(path: UncertainEvent['path'], value: unknown, expected: string) {
    const shown = typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : typeof value;
    super(`should be ${expected}${value === undefined ? '' : `, not ${shown}`}`);
    this.path = path;
  }
}

/** Reads an item. Keeps the order of its keys, because webhooks contain the ABI as it was given. */
function readItem(item: Fields, type: string, path: UncertainEvent['path']): AbiItem {
  const read: Record<string, unknown> = typeof item['type'] === 'string' ? {} : { type };
  for (const [key, value] of Object.entries(item)) {
    if (value === null || value === undefined) continue;
    if (key === 'type') read[key] = type;
    else if (key === 'inputs' || key === 'outputs') {
      read[key] = readParameters(value, { type, path: [...path, key], depth: 0 });
    } else if (ITEM_VALUES.get(key)?.(value)) read[key] = value;
  }
  if (NAMED_TYPES.has(type) && !read['name']) {
    throw new Uncertain([...path, 'name'], item['name'], `the name of the ${type}`);
  }
  return read as unknown as AbiItem;
}

const NAMED_TYPES: ReadonlySet<string> = new Set(['event', 'function', 'error']);

const isText = (value: unknown): boolean => typeof value === 'string';
const isFlag = (value: unknown): boolean => typeof value === 'boolean';

/** Checks of the other values of an item. Invalid values are dropped. */
const ITEM_VALUES: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['name', isText],
  ['anonymous', isFlag],
  ['constant', isFlag],
  ['payable', isFlag],
  ['stateMutability', isText],
  ['gas', Number.isFinite],
  ['signature', (value) => /^0x([0-9a-fA-F]{8}|[0-9a-fA-F]{64})$/.test(String(value))],
]);

/** The item and the position of a parameter or a list of parameters. */
interface Place {
  /** Type of the item. */
  readonly type: string;
  readonly path: UncertainEvent['path'];
  readonly depth: number;
}

const within = ({ type, path, depth }: Place, key: string | number, deeper = 0): Place => ({
  type,
  path: [...path, key],
  depth: depth + deeper,
});

function readParameters(given: unknown, place: Place): AbiParameter[] {
  if (!Array.isArray(given)) throw new Uncertain(place.path, given, 'a list of parameters');
  if (place.depth > MAX_DEPTH) {
    throw new Uncertain(place.path, undefined, `nested at most ${MAX_DEPTH} levels deep`);
  }
  return given.map((each, n) => readParameter(each, within(place, n)));
}

function readParameter(given: unknown, place: Place): AbiParameter {
  if (!isObject(given)) throw new Uncertain(place.path, given, 'a parameter');
  const resolved = resolveType(given, place);
  const read: Record<string, unknown> = isText(given['name']) ? {} : { name: '' };
  for (const [key, value] of Object.entries(given)) {
    if (key === 'type') read[key] = resolved.type;
    else if (key === 'components' && resolved.components) read[key] = resolved.components;
    else if (key === 'indexed' && isFlag(value)) read[key] = value;
    else if ((key === 'name' || key === 'internalType') && isText(value)) read[key] = value;
  }
  return { ...(read as unknown as AbiParameter), ...resolved };
}

const MAX_TYPE_CHARACTERS = 256;

/**
 * Returns the type of a parameter in the spelling of the ABI specification, and the components of a
 * tuple. Old compilers name the enum or contract instead of its ABI type. This is certain only for
 * events, because the functions of libraries use such names in their signatures.
 */
function resolveType(given: Fields, place: Place): Pick<AbiParameter, 'type' | 'components'> {
  const internal = isText(given['internalType']) ? String(given['internalType']).trim() : '';
  const type = isText(given['type']) ? String(given['type']).trim() : internal;
  if (type.length > MAX_TYPE_CHARACTERS) {
    const limit = `at most ${MAX_TYPE_CHARACTERS} characters`;
    throw new Uncertain([...place.path, 'type'], undefined, limit);
  }
  if (canonicalType(type) !== undefined) return { type };
  const { base, arrays } = splitArrays(type);
  const kind = kindOf(base) ?? kindOf(internal);
  if (base === 'tuple' || kind === 'struct') {
    const components = readParameters(given['components'], within(place, 'components', 1));
    if (components.length > 0) return { type: `tuple${arrays}`, components };
    throw new Uncertain([...place.path, 'components'], undefined, 'the components of the tuple');
  }
  const components = /^(tuple)?\(/.test(base) ? parseTuple(base) : undefined;
  if (components !== undefined) return { type: `tuple${arrays}`, components };
  if (base === 'address payable') return { type: `address${arrays}` };
  if (place.type === 'event') {
    const isNamed = kind === undefined && internal === '';
    if (kind === 'enum' || (isNamed && MEMBER_NAME.test(base))) return { type: `uint8${arrays}` };
    const isContract = kind === 'contract' || kind === 'interface';
    if (isContract || (isNamed && CONTRACT_NAME.test(base))) return { type: `address${arrays}` };
  }
  const expected = 'a Solidity type, e.g. uint256, address[] or tuple';
  throw new Uncertain([...place.path, 'type'], given['type'] ?? '', expected);
}

/** Matches the name of an enum, which old compilers prefix with its contract. */
const MEMBER_NAME = /^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)+$/;

/** Matches the name of a contract. Lowercase names are probably misspelled types. */
const CONTRACT_NAME = /^[A-Z_$][\w$]*$/;

/** Returns the kind of a user-defined type, such as `enum` of `enum Pool.Status`. */
const kindOf = (type: string): string | undefined =>
  /^(enum|contract|interface|struct) /.exec(type)?.[1];

function splitArrays(type: string): { base: string; arrays: string } {
  let end = type.length;
  for (;;) {
    const start = type.lastIndexOf('[', end - 1);
    if (start < 0 || !/^\[\d*\]$/.test(type.slice(start, end))) break;
    end = start;
  }
  return { base: type.slice(0, end), arrays: type.slice(end) };
}
