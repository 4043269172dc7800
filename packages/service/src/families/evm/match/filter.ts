/**
 * Filters on the parameters of an event or a function, validated and compiled once per stream:
 *
 *     F := {"and":[F,F,…]} | {"or":[F,F,…]}
 *        | {"eq":[name,value]} | {"ne":[name,value]}
 *        | {"lt":[name,value]} | {"lte":…} | {"gt":…} | {"gte":…}      (only for numbers)
 *        | {"in":[name,[value,…]]} | {"nin":[name,[value,…]]}
 *
 * A name is a parameter, or one of the special `moralis_streams_…` names; for calls, also
 * `sluice_sender` and `sluice_value`. Integers of any size are compared exactly, and addresses and
 * bytes case-insensitively. Booleans may be given as strings.
 */
import { CallerError } from '../../../base/errors.ts';
import {
  type AbiItem,
  type AbiParameter,
  type CloseMatch,
  type ExplainedCondition,
  keccak256,
  toAddress,
  toChainId,
} from '@sluice/kit/contract';
import { previewText } from '../../../base/preview.ts';
import { MAX_NAMED, firstOf } from '../../../match/reasons.ts';

/** The chain of a log or call, and whether its contract is possible spam. */
export interface RecordContext {
  chain: string;
  possibleSpam: boolean;
}

/** The values of a log or a call that filters can read. */
export interface FilterSubject extends RecordContext {
  /** Decoded parameters of the event or function, by name. */
  args: Readonly<Record<string, unknown>>;
  /** The emitter of a log, or the recipient of a call, in lowercase. */
  contract: string;
  /** Sender of a call in lowercase; absent for a log. */
  sender?: string;
  /** Native currency that a call moves, in wei; absent for a log. */
  value?: bigint;
}

/** A comparison that alone excludes a subject: if it held, the subject would pass. */
export interface ExcludingComparison {
  name: string;
  operator: CloseMatch['operator'];
  wanted: bigint;
  actual: bigint;
}

export interface Filter {
  /** Maximum number of comparisons for one subject. A list of values counts as one. */
  readonly comparisons: number;
  passes(subject: FilterSubject): boolean;
  /**
   * Returns a numeric comparison that alone excludes a subject that does not pass; undefined if
   * there is none.
   */
  missOf(subject: FilterSubject): ExcludingComparison | undefined;
  /** Explains why the subject passes or fails, with the compared values. */
  explain(subject: FilterSubject): string;
  /** Yields every comparison, with the compared values. */
  conditions(subject: FilterSubject): Iterable<ExplainedCondition>;
}

/**
 * Error for an invalid filter, with the path of the invalid part. The message describes a valid
 * part.
 */
export class FilterError extends CallerError<'validation_failed'> {
  readonly path: (string | number)[];

  constructor(path: (string | number)[], message: string) {
    super('validation_failed', message);
    this.path = path;
  }
}

/**
 * A name that filters can use, with functions that read its value and parse the operands of
 * comparisons.
 */
interface Operand {
  isNumber: boolean;
  read(subject: FilterSubject): bigint | string | undefined;
  /** Parses an operand; undefined if it does not have the type of the value. */
  parse(operand: unknown): bigint | string | undefined;
  /** Description of valid operands, for messages. */
  expected: string;
}

interface Compiled extends Filter {
  /** Set if the part only checks that a name has one of these values, or none of them. */
  membership?: { name: string; operand: Operand; values: ReadonlySet<unknown>; isIn: boolean };
}

/**
 * Maximum nesting depth: more than handwritten filters need, and low enough that recursion cannot
 * overflow the stack.
 */
const MAX_DEPTH = 32;

const COMPARISONS = {
  lt: { sign: '<', holds: (a: bigint | string, b: bigint | string) => a < b },
  lte: { sign: '≤', holds: (a: bigint | string, b: bigint | string) => a <= b },
  gt: { sign: '>', holds: (a: bigint | string, b: bigint | string) => a > b },
  gte: { sign: '≥', holds: (a: bigint | string, b: bigint | string) => a >= b },
} as const;
/** Maximum number of names in an error; limited because an event may have thousands of inputs. */
const LISTED = 20;
/** Maximum length of a value in an explanation, in characters. */
const SHOWN = 100;
const OPERATORS = ['and', 'or', 'eq', 'ne', ...Object.keys(COMPARISONS), 'in', 'nin'];

/**
 * Compiles a filter for this event or function.
 *
 * @throws FilterError with the path and the expected value
 */
export function compileFilter(filter: unknown, item: AbiItem): Filter {
  return compile(filter, operandsOf(item), [], 0);
}

/** Returns whether the filter is missing or has no conditions. Such a filter needs no ABI. */
export const isEmptyFilter = (filter: object | undefined): boolean =>
  filter === undefined || Object.keys(filter).length === 0;

function compile(
  filter: unknown,
  operands: ReadonlyMap<string, Operand>,
  path: (string | number)[],
  depth: number,
): Compiled {
  if (depth > MAX_DEPTH)
    throw new FilterError(path, `should be nested at most ${MAX_DEPTH} levels deep`);
  if (typeof filter !== 'object' || filter === null || Array.isArray(filter)) {
    throw new FilterError(
      path,
      'should be an object with one operator, e.g. {"eq": ["to", "0x…"]}',
    );
  }
  const entries = Object.entries(filter);
  const [operator, body] = entries[0] ?? [];
  if (entries.length !== 1 || operator === undefined || !OPERATORS.includes(operator)) {
    throw new FilterError(path, `should have exactly one of the operators ${OPERATORS.join(', ')}`);
  }
  const at = [...path, operator];

  if (operator === 'and' || operator === 'or') {
    if (!Array.isArray(body) || body.length < 2) {
      throw new FilterError(at, 'should be a list of at least two filters');
    }
    const parts = body.map((part, n) => compile(part, operands, [...at, n], depth + 1));
    const merged = mergeMemberships(parts, operator === 'or');
    const comparisons = merged.reduce((sum, part) => sum + part.comparisons, 0);
    if (operator === 'and') {
      return {
        comparisons,
        passes: (subject) => merged.every((part) => part.passes(subject)),
        missOf: (subject) => {
          const [wrong, another] = parts.filter((part) => !part.passes(subject));
          return another === undefined ? wrong?.missOf(subject) : undefined;
        },
        explain: (subject) => {
          const wrong = parts.find((part) => !part.passes(subject));
          return wrong?.explain(subject) ?? explainAll(parts, subject);
        },
        conditions: (subject) => eachCondition(parts, subject),
      };
    }
    return {
      comparisons,
      passes: (subject) => merged.some((part) => part.passes(subject)),
      missOf: (subject) => {
        for (const part of parts) {
          const miss = part.missOf(subject);
          if (miss !== undefined) return miss;
        }
        return undefined;
      },
      explain: (subject) => {
        const right = parts.find((part) => part.passes(subject));
        return right?.explain(subject) ?? explainAll(parts, subject);
      },
      conditions: (subject) => eachCondition(parts, subject, true),
    };
  }

  if (!Array.isArray(body) || body.length !== 2 || typeof body[0] !== 'string') {
    throw new FilterError(at, 'should be a list of a name and a value');
  }
  const [name, value] = body as [string, unknown];
  const operand = operands.get(name);
  if (operand === undefined) {
    const names = [...operands.keys()].slice(-LISTED).join(', ');
    const some = operands.size > LISTED ? 'an input, or ' : '';
    throw new FilterError([...at, 0], `should be ${some}one of ${names}`);
  }
  const parse = (each: unknown, where: (string | number)[]): bigint | string => {
    const parsed = operand.parse(each);
    if (parsed === undefined) throw new FilterError(where, `should be ${operand.expected}`);
    return parsed;
  };

  if (operator === 'in' || operator === 'nin') {
    if (!Array.isArray(value) || value.length === 0) {
      throw new FilterError([...at, 1], 'should be a list of at least one value');
    }
    const wanted = value.map((each, n) => parse(each, [...at, 1, n]));
    return isMember(name, operand, operator, new Set(wanted));
  }
  if (operator === 'eq' || operator === 'ne') {
    const wanted = parse(value, [...at, 1]);
    return isMember(name, operand, operator, new Set([wanted]));
  }

  const compare = COMPARISONS[operator as keyof typeof COMPARISONS];
  if (!operand.isNumber) {
    throw new FilterError(at, `should be eq, ne, in or nin: ${name} is not a number`);
  }
  const wanted = parse(value, [...at, 1]);
  const passes = (subject: FilterSubject): boolean => {
    const actual = operand.read(subject);
    return actual !== undefined && compare.holds(actual, wanted);
  };
  return {
    comparisons: 1,
    passes,
    missOf(subject) {
      const actual = operand.read(subject);
      if (typeof actual !== 'bigint' || typeof wanted !== 'bigint') return undefined;
      return { name, operator: operator as CloseMatch['operator'], wanted, actual };
    },
    explain: (subject) =>
      describeComparison(name, operand.read(subject), `${compare.sign} ${wanted}`, {
        operator,
        holds: passes(subject),
      }),
    conditions: (subject) => [
      toCondition(name, `${compare.sign} ${wanted}`, operand.read(subject), passes(subject)),
    ],
  };
}

/** Compiles `eq`, `ne`, `in` or `nin`. A value that can't be read passes none of them. */
function isMember(
  name: string,
  operand: Operand,
  operator: string,
  values: ReadonlySet<unknown>,
): Compiled {
  const isIn = operator === 'in' || operator === 'eq';
  const passes = (subject: FilterSubject): boolean => {
    const actual = operand.read(subject);
    return actual !== undefined && values.has(actual) === isIn;
  };
  return {
    comparisons: 1,
    membership: { name, operand, values, isIn },
    passes,
    missOf: () => undefined,
    explain: (subject) =>
      describeComparison(name, operand.read(subject), describeValues(values, isIn), {
        operator,
        holds: passes(subject),
      }),
    conditions: (subject) => [
      toCondition(name, describeValues(values, isIn), operand.read(subject), passes(subject)),
    ],
  };
}

function describeValues(values: ReadonlySet<unknown>, isIn: boolean): string {
  const named = [...firstOf(values, MAX_NAMED)]
    .map((value) => previewText(String(value), SHOWN))
    .join(', ');
  if (values.size === 1) return `${isIn ? '=' : '!='} ${named}`;
  const more = values.size > MAX_NAMED ? ` and ${values.size - MAX_NAMED} more` : '';
  return `${isIn ? '' : 'none '}of ${named}${more}`;
}

/** @param actual undefined if the value can't be read */
export const toCondition = (
  name: string,
  rule: string,
  actual: bigint | string | undefined,
  holds: boolean,
): ExplainedCondition => ({
  name,
  rule,
  value: actual === undefined ? null : String(actual),
  holds,
  alternative: false,
});

function* eachCondition(
  parts: readonly Filter[],
  subject: FilterSubject,
  areAlternatives = false,
): Generator<ExplainedCondition> {
  for (const [n, part] of parts.entries()) {
    let isFirst = true;
    for (const condition of part.conditions(subject)) {
      yield areAlternatives && isFirst && n > 0 ? { ...condition, alternative: true } : condition;
      isFirst = false;
    }
  }
}

/** Words for the special names in explanations. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['moralis_streams_contract_address', 'contract'],
  ['moralis_streams_chain_id', 'chain'],
  ['moralis_streams_possibleSpam', 'possible spam'],
  ['sluice_sender', 'sender'],
  ['sluice_value', 'value'],
]);

function describeComparison(
  name: string,
  actual: bigint | string | undefined,
  wanted: string,
  { operator, holds }: { operator: string; holds: boolean },
): string {
  const word = WORDS.get(name) ?? name;
  if (actual === undefined) return `${word} couldn't be read`;
  const shown = previewText(String(actual), SHOWN);
  return holds
    ? `${word} ${shown} is ${wanted}`
    : `${word} ${shown} is not ${wanted} (${operator})`;
}

function explainAll(parts: readonly Filter[], subject: FilterSubject): string {
  const named = parts.slice(0, MAX_NAMED).map((part) => part.explain(subject));
  const more = parts.length > MAX_NAMED ? [`${parts.length - MAX_NAMED} more`] : [];
  return [...named, ...more].join('; ');
}

/**
 * Merges equality checks of one name in an `or`, and inequality checks in an `and`, into a single
 * set lookup. Thousands of checks then take as long as one.
 */
function mergeMemberships(parts: readonly Compiled[], isIn: boolean): Filter[] {
  const rest: Filter[] = [];
  const merged = new Map<string, { operand: Operand; values: Set<unknown> }>();
  for (const part of parts) {
    const { membership } = part;
    if (membership?.isIn !== isIn) {
      rest.push(part);
      continue;
    }
    const { name, operand } = membership;
    const { values } = merged.get(name) ?? { values: new Set() };
    for (const value of membership.values) values.add(value);
    merged.set(name, { operand, values });
  }
  const sets = [...merged].map(([name, { operand, values }]) =>
    isMember(name, operand, isIn ? 'in' : 'nin', values),
  );
  return [...sets, ...rest];
}

/** Operands by item, cached because thousands of filters may use the same event or function. */
const operandsByItem = new WeakMap<AbiItem, ReadonlyMap<string, Operand>>();

function operandsOf(item: AbiItem): ReadonlyMap<string, Operand> {
  let operands = operandsByItem.get(item);
  if (operands === undefined) {
    operands = readOperands(item);
    operandsByItem.set(item, operands);
  }
  return operands;
}

function readOperands({ type, inputs = [] }: AbiItem): Map<string, Operand> {
  const operands = new Map<string, Operand>();
  for (const input of inputs) {
    const operand = input.name === '' ? undefined : operandOf(input);
    if (operand !== undefined) operands.set(input.name, operand);
  }
  operands.set('moralis_streams_contract_address', {
    ...ADDRESS,
    read: (subject) => subject.contract,
  });
  operands.set('moralis_streams_chain_id', {
    isNumber: false,
    read: (subject) => subject.chain,
    parse: toChainId,
    expected: 'a chain ID in hex, e.g. 0x1',
  });
  operands.set('moralis_streams_possibleSpam', {
    ...BOOLEAN,
    read: (subject) => String(subject.possibleSpam),
  });
  if (type === 'function') {
    operands.set('sluice_sender', { ...ADDRESS, read: (subject) => subject.sender });
    operands.set('sluice_value', { ...INTEGER, read: (subject) => subject.value });
  }
  return operands;
}

const ADDRESS = {
  isNumber: false,
  parse: toAddress,
  expected: 'an address: 0x and 40 hex digits',
} as const;

const INTEGER = {
  isNumber: true,
  parse: toInteger,
  expected: 'an integer, as decimal text if it is large',
} as const;

const BOOLEAN = {
  isNumber: false,
  parse: (operand: unknown) =>
    /^(true|false)$/.test(String(operand)) ? String(operand) : undefined,
  expected: 'true or false',
} as const;

/**
 * Returns the operand for a parameter; undefined for types that can't be compared, such as arrays,
 * tuples and indexed `bytes`.
 */
function operandOf({ name, type, indexed }: AbiParameter): Operand | undefined {
  const readText = (subject: FilterSubject): string | undefined => {
    const value = subject.args[name];
    return typeof value === 'string'
      ? value
      : typeof value === 'boolean'
        ? String(value)
        : undefined;
  };
  if (/^u?int\d*$/.test(type)) {
    return {
      ...INTEGER,
      read: (subject) => {
        const value = subject.args[name];
        return typeof value === 'bigint' ? value : undefined;
      },
    };
  }
  if (type === 'address') return { ...ADDRESS, read: readText };
  if (type === 'bool') return { ...BOOLEAN, read: readText };
  if (/^bytes\d+$/.test(type) || (type === 'bytes' && !indexed)) {
    return {
      isNumber: false,
      read: readText,
      parse: (operand) =>
        typeof operand === 'string' && /^0x([0-9a-f]{2})*$/i.test(operand)
          ? operand.toLowerCase()
          : undefined,
      expected: 'bytes in hex, e.g. 0x1234',
    };
  }
  if (type === 'string') {
    return {
      isNumber: false,
      read: readText,
      // A log contains only the hash of an indexed string, so the operand is hashed, too.
      parse: (operand) =>
        typeof operand !== 'string' ? undefined : indexed ? keccak256(operand) : operand,
      expected: 'text',
    };
  }
  return undefined;
}

/**
 * Parses a decimal or hex string, or a JSON number; undefined if it is not an integer. JSON parsing
 * may already have rounded a number above 2^53.
 */
function toInteger(operand: unknown): bigint | undefined {
  if (typeof operand === 'number') return Number.isInteger(operand) ? BigInt(operand) : undefined;
  if (typeof operand !== 'string' || operand.length > 80) return undefined;
  return /^(-?\d+|0x[0-9a-f]+)$/i.test(operand) ? BigInt(operand) : undefined;
}
