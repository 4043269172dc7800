/** Reads values from the JSON that nodes return, and checks their types. */
import { previewText } from '../base/preview.ts';
import { SourceError } from './source.ts';

export type Json = Record<string, unknown>;

/** Maximum length of an unexpected value in an error message, in characters. */
const SHOWN = 100;

/**
 * Describes an unexpected value of a node. Shows digits only, because any other text may repeat the
 * key in the node's URL.
 */
export function showValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null || typeof value === 'number' || typeof value === 'boolean') {
    return String(value);
  }
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value !== 'string') return 'an object';
  return /^(?:0x[\da-f]*|-?\d+)$/i.test(value)
    ? previewText(value, SHOWN)
    : `a string of ${value.length} characters`;
}

const HASH_LENGTH = 66;

export function toObject(value: unknown, what: string): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  throw new SourceError('missing', `${what} is invalid: ${showValue(value)}`);
}

export function toList(value: unknown, what: string): unknown[] {
  if (Array.isArray(value)) return value;
  throw new SourceError('missing', `${what} is invalid: ${showValue(value)}`);
}

export function readHex(from: Json, key: string): string {
  const value = from[key];
  if (typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value)) return value;
  throw new SourceError('inconsistent', `${key} is invalid: ${showValue(value)}`);
}

/** Reads a 32-byte hash. Other lengths are rejected, because hashes are stored and displayed. */
export function readHash(from: Json, key: string): string {
  const value = readHex(from, key);
  if (value.length === HASH_LENGTH) return value;
  throw new SourceError('inconsistent', `${key} is invalid: ${showValue(value)}`);
}

export function optionalHex(from: Json, key: string): string | null {
  return from[key] === undefined || from[key] === null ? null : readHex(from, key);
}

/** Writes a number as JSON-RPC quantities: in hex, without leading zeros. */
export const toHex = (value: number | bigint): string => `0x${value.toString(16)}`;

export function toNumber(quantity: string): number {
  const number = Number(quantity);
  if (Number.isSafeInteger(number)) return number;
  throw new SourceError('inconsistent', `quantity ${showValue(quantity)} is out of range`);
}
