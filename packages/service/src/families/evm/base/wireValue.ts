import type { DecodedValue } from '@sluice/kit/contract';

/**
 * Converts a decoded value to the webhook's form: numbers as decimal strings, structs as arrays.
 */
export function toWireValue(value: DecodedValue): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object') return value;
  const members: readonly DecodedValue[] = Array.isArray(value) ? value : Object.values(value);
  return members.map(toWireValue);
}
