/**
 * Values of triggers between JSON and the chain: inputs as people and records write them become what
 * the encoder takes, and decoded outputs become what webhooks carry.
 */
import { type AbiParameter, canonicalType, toAddress } from '@sluice/kit/contract';

/** Deepest nesting of arrays and structs. */
export const MAX_DEPTH = 16;

/** The type without its last pair of brackets, and the number in them; undefined for no array. */
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

/** Whether values of this type can be encoded and decoded: `fixed` and `function` cannot. */
export function isSupported(parameter: AbiParameter, depth = 0): boolean {
  if (depth > MAX_DEPTH) return false;
  const array = elementOf(parameter);
  if (array !== undefined) return isSupported(array.element, depth + 1);
  if (parameter.type === 'tuple') {
    return (parameter.components ?? []).every((component) => isSupported(component, depth + 1));
  }
  return /^(u?int\d+|address|bool|string|bytes\d*)$/.test(canonicalType(parameter.type) ?? '');
}

/** A value that does not fit its parameter, with what it should be. */
export class ValueError extends Error {
  override readonly name = 'ValueError';
}

/**
 * A value of a parameter from JSON or a record, as viem's encoder takes it.
 * @throws ValueError
 */
export function toAbiValue(parameter: AbiParameter, value: unknown): unknown {
  const array = elementOf(parameter);
  if (array !== undefined) {
    return listOf(value, array.length, parameter.type).map((item) =>
      toAbiValue(array.element, item),
    );
  }
  if (parameter.type === 'tuple') {
    const components = parameter.components ?? [];
    return listOf(value, components.length, 'struct').map((item, n) =>
      toAbiValue(components[n]!, item),
    );
  }
  const type = canonicalType(parameter.type) ?? parameter.type;
  const converted = toElementary(type, value);
  if (converted === undefined) throw new ValueError(`should be ${describe(type)}`);
  return converted;
}

/**
 * The members of an array or struct, which JSON has as an array and a decoded event as an object.
 * @throws ValueError
 */
export function listOf(value: unknown, length: number | undefined, type: string): unknown[] {
  const items = isObject(value) ? Object.values(value) : value;
  if (!Array.isArray(items) || (length !== undefined && items.length !== length)) {
    throw new ValueError(
      `should be an array${length === undefined ? '' : ` of ${length}`}, for the parameter is a ${type}`,
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

/** Topics carry addresses as whole words. */
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

/** The parameters without names, by which the decoder makes arrays of structs. */
export const unnamed = (parameters: readonly AbiParameter[]): AbiParameter[] =>
  parameters.map(({ type, components }) => ({
    name: '',
    type,
    ...(components && { components: unnamed(components) }),
  }));

/** A decoded value as webhooks carry it: numbers as decimal text, addresses in lower case. */
export function toWireValue(parameter: AbiParameter, value: unknown): unknown {
  const array = elementOf(parameter);
  if (array !== undefined) {
    return (value as unknown[]).map((item) => toWireValue(array.element, item));
  }
  if (parameter.type === 'tuple') {
    const components = parameter.components ?? [];
    return components.map((component, n) => toWireValue(component, (value as unknown[])[n]));
  }
  if (typeof value === 'bigint' || typeof value === 'number') return value.toString();
  return parameter.type === 'address' ? (value as string).toLowerCase() : value;
}
