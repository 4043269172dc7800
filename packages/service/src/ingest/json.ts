/** Reading what a node answered: nothing is taken for what it should be before it was looked at. */
import { SourceError } from './source.ts';

export type Json = Record<string, unknown>;

export function object(value: unknown, what: string): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  throw new SourceError('missing', `${what} came as ${JSON.stringify(value) ?? 'nothing'}`);
}

export function list(value: unknown, what: string): unknown[] {
  if (Array.isArray(value)) return value;
  throw new SourceError('missing', `${what} came as ${JSON.stringify(value) ?? 'nothing'}`);
}

export function hex(from: Json, key: string): string {
  const value = from[key];
  if (typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value)) return value;
  throw new SourceError('inconsistent', `${key} came as ${JSON.stringify(value) ?? 'nothing'}`);
}

export function optionalHex(from: Json, key: string): string | null {
  return from[key] === undefined || from[key] === null ? null : hex(from, key);
}

export function toNumber(quantity: string): number {
  const number = Number(quantity);
  if (Number.isSafeInteger(number)) return number;
  throw new SourceError('inconsistent', `quantity ${quantity} is out of range`);
}
