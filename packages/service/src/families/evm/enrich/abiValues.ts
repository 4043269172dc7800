/**
 * Converts trigger values from JSON to the chain: inputs from users and records to the encoder's
 * form.
 */
import { CallerError } from '../../../base/errors.ts';
import { type AbiParameter, canonicalType, toAddress } from '@sluice/kit/contract';

/** Maximum depth of nested arrays and structs. */
export const MAX_DEPTH = 16;

/**
 * Returns an array type's element and its length, which is undefined for a dynamic array; returns
 * undefined for any other type.
 */
export function elementOf(
  parameter: AbiParameter,
): { element: AbiParameter; length: number | undefined } | undefined {
  const bracket = parameter.type.lastIndexOf('[');
  if (!/^\[\d*\]$/.test(parameter.type.slice(bracket))) return undefined;
  const type = parameter.type.slice(0, bracket);
  const length = parameter.type.slice(bracket + 1, -1);
  return {
    element: { ...parameter, type },
    length: length === '' ? undefined : Number(length),
  };
}

/**
 * Returns whether values of this type can be encoded and decoded. Excludes `fixed`, `function`,
 * types nested deeper than {@link MAX_DEPTH}, and empty arrays and structs, which do not exist in
 * Solidity.
 */
export function isSupported(parameter: AbiParameter, depth = 0): boolean {
  if (depth > MAX_DEPTH) return false;
  const array = elementOf(parameter);
  if (array !== undefined) return array.length !== 0 && isSupported(array.element, depth + 1);
  if (parameter.type === 'tuple') {
    const components = parameter.components ?? [];
    return (
      components.length > 0 && components.every((component) => isSupported(component, depth + 1))
    );
  }
  return /^(u?int\d+|address|bool|string|bytes\d*)$/.test(canonicalType(parameter.type) ?? '');
}

/** Creates the error for a value that a parameter can't take. */
export const valueError = (message: string): CallerError<'validation_failed'> =>
  new CallerError('validation_failed', message);

/** Remaining space for the encoded values of one call. */
export interface ByteBudget {
  bytes: number;
}

/**
 * Maximum size of one call's data; limited because inputs from event parameters can be arbitrarily
 * large.
 */
export const MAX_CALL_BYTES = 65_536;
const WORD_BYTES = 32;

/**
 * Converts a value from JSON or a record to the form that viem's encoder expects.
 *
 * @param room remaining space, reduced by the value's minimum size before the conversion
 * @throws CallerError if the value does not fit its type or the remaining space
 */
export function toAbiValue(parameter: AbiParameter, value: unknown, room: ByteBudget): unknown {
  const array = elementOf(parameter);
  if (array !== undefined) {
    if (array.length === undefined) take(room, WORD_BYTES);
    return listOf(value, array.length, parameter.type).map((item) =>
      toAbiValue(array.element, item, room),
    );
  }
  if (parameter.type === 'tuple') {
    const components = parameter.components ?? [];
    return listOf(value, components.length, 'struct').map((item, n) =>
      toAbiValue(components[n]!, item, room),
    );
  }
  take(room, WORD_BYTES + (typeof value === 'string' ? Math.floor(value.length / 2) - 1 : 0));
  const type = canonicalType(parameter.type) ?? parameter.type;
  const converted = toElementary(type, value);
  if (converted === undefined) throw valueError(`should be ${describe(type)}`);
  return converted;
}

function take(room: ByteBudget, bytes: number): void {
  room.bytes -= bytes;
  if (room.bytes < 0) throw valueError(`makes the call larger than ${MAX_CALL_BYTES} bytes`);
}

/**
 * Returns the members of an array or struct. A struct is an array in JSON, but an object in decoded
 * events.
 *
 * @throws CallerError if the value is neither an array nor an object, or has a different number of
 * members
 */
export function listOf(value: unknown, length: number | undefined, type: string): unknown[] {
  const items = isObject(value) ? Object.values(value) : value;
  if (!Array.isArray(items) || (length !== undefined && items.length !== length)) {
    throw valueError(
      `should be an array${length === undefined ? '' : ` of ${length}`}, because the parameter is a ${type}`,
    );
  }
  return items;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function toElementary(type: string, value: unknown): unknown {
  if (type === 'string') return isScalar(value) ? String(value) : undefined;
  if (type === 'bool') return isScalar(value) ? BOOLEANS.get(String(value)) : undefined;
  if (type === 'address') return toAddress(value) ?? addressInWord(value);
  const [, base, size] = /^(uint|int|bytes)(\d*)$/.exec(type) ?? [];
  if (base === 'bytes') {
    const isHex = typeof value === 'string' && /^0x([0-9a-fA-F]{2})*$/.test(value);
    return isHex && (size === '' || value.length === 2 + 2 * Number(size)) ? value : undefined;
  }
  const integer = toInteger(value);
  if (integer === undefined) return undefined;
  const bits = Number(size);
  const fits = base === 'uint' ? BigInt.asUintN(bits, integer) : BigInt.asIntN(bits, integer);
  return fits === integer ? integer : undefined;
}

const isScalar = (value: unknown): value is string | number | bigint | boolean =>
  ['string', 'number', 'bigint', 'boolean'].includes(typeof value);

const BOOLEANS = new Map([
  ['true', true],
  ['false', false],
]);

/**
 * Returns the address in a 32-byte word, the form that addresses have in topics; undefined for any
 * other value.
 */
function addressInWord(value: unknown): string | undefined {
  return typeof value === 'string' && /^0x0{24}[0-9a-fA-F]{40}$/.test(value)
    ? `0x${value.slice(26).toLowerCase()}`
    : undefined;
}

function toInteger(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return typeof value === 'string' && /^(-?\d{1,78}|0x[0-9a-fA-F]{1,64})$/.test(value)
    ? BigInt(value)
    : undefined;
}

function describe(type: string): string {
  if (type === 'address') return 'an address: 0x and 40 hex digits';
  if (type === 'bool') return 'true or false';
  if (type.startsWith('bytes')) return `${type} in hex`;
  return type === 'string'
    ? 'text'
    : `an integer that fits ${type}, as decimal text beyond 2^53: "1000000000000000000"`;
}

/**
 * Returns the parameters without names, so that structs are encoded from arrays and decoded to
 * arrays.
 */
export const unnamed = (parameters: readonly AbiParameter[]): AbiParameter[] =>
  parameters.map(({ type, components }) => ({
    name: '',
    type,
    ...(components && { components: unnamed(components) }),
  }));
