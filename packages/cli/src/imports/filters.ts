/** Filters of `advancedOptions` for the conditions of other products. */
import { type AbiItem, type AbiParameter, itemSignature } from '@sluice/kit/contract';

export type Operator = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte';

/** A filter, which has exactly one of these keys. */
export type Filter = {
  readonly [Key in 'and' | 'or']?: readonly Filter[];
} & {
  readonly [Key in Operator]?: readonly [name: string, value: string];
} & {
  readonly in?: readonly [name: string, values: readonly string[]];
};

/** Thrown for a condition that filters cannot express; the message is the reason. */
export class UnmappedError extends Error {}

/** Returns a filter that passes if all of these do. An undefined filter always passes. */
export const allOf = (filters: readonly (Filter | undefined)[]): Filter | undefined =>
  join(
    'and',
    filters.filter((each) => each !== undefined),
  );

/** Returns a filter that passes if one of these does. An undefined filter always passes. */
export const anyOf = (filters: readonly (Filter | undefined)[]): Filter | undefined => {
  const known = filters.filter((each) => each !== undefined);
  return known.length < filters.length ? undefined : join('or', known);
};

function join(operator: 'and' | 'or', filters: readonly Filter[]): Filter | undefined {
  const parts = filters.flatMap((each) => each[operator] ?? [each]);
  return parts.length > 1 ? { [operator]: parts } : parts[0];
}

/** Returns a filter for records whose value is one of these addresses. */
export const isOneOf = (name: string, addresses: readonly string[]): Filter =>
  addresses.length === 1 ? { eq: [name, addresses[0]!] } : { in: [name, addresses] };

/** Name of the emitter of a log and of the recipient of a call in filters. */
export const CONTRACT = 'moralis_streams_contract_address';

/**
 * Compares a parameter of an event or a function with a value in text.
 *
 * @throws UnmappedError
 */
function compareParameter(
  { name, type, indexed = false }: AbiParameter,
  operator: Operator,
  value: string,
): Filter {
  const kind = KINDS.find(({ types }) => types.test(type));
  if (kind === undefined || (type === 'bytes' && indexed)) {
    throw new UnmappedError(
      `filters cannot compare ${name}, of the type ${type}${indexed ? ' indexed' : ''}`,
    );
  }
  if (!kind.isOrdered && operator !== 'eq' && operator !== 'ne') {
    throw new UnmappedError(`${name} is not a number, so filters cannot order it`);
  }
  const operand = kind.read(value);
  if (operand === undefined)
    throw new UnmappedError(`${name} should be compared with ${kind.expected}`);
  return { [operator]: [name, operand] };
}

/**
 * Compares an input of an event or a function. Contracts may declare one signature with other
 * names, so all items must have the input.
 *
 * @throws UnmappedError
 */
export function compareInput(
  items: readonly AbiItem[],
  name: string,
  operator: Operator,
  value: string,
): Filter | undefined {
  const [filter] = items.map((item) => {
    const input = item.inputs?.find((each) => each.name === name);
    if (input === undefined) throw new UnmappedError(`${itemSignature(item)} has no ${name}`);
    return compareParameter(input, operator, value);
  });
  return filter;
}

interface Kind {
  types: RegExp;
  isOrdered?: boolean;
  expected: string;
  /** Returns the value as filters take it; undefined if it has another type. */
  read(value: string): string | undefined;
}

const KINDS: readonly Kind[] = [
  {
    types: /^u?int\d*$/,
    isOrdered: true,
    expected: 'an integer',
    read: (value) =>
      /^(?:[+-]?\d{1,78}|0x[\da-f]{1,64})$/i.test(value)
        ? String(BigInt(value.replace(/^\+/, '')))
        : undefined,
  },
  {
    types: /^address$/,
    expected: 'an address',
    read: (value) =>
      /^(?:0x)?[\da-f]{40}$/i.test(value) ? `0x${value.slice(-40).toLowerCase()}` : undefined,
  },
  {
    types: /^bool$/,
    expected: 'true or false',
    read: (value) => (value === 'true' || value === 'false' ? value : undefined),
  },
  {
    types: /^bytes\d*$/,
    expected: 'bytes in hex, such as 0x1234',
    read: (value) => (/^0x(?:[\da-f]{2})*$/i.test(value) ? value.toLowerCase() : undefined),
  },
  { types: /^string$/, expected: 'text', read: (value) => value },
];
