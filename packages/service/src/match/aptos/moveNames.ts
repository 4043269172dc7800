/** Normalizes addresses and Move types, which nodes, users and contracts abbreviate differently. */
import { toMovePath } from '@sluice/kit/contract';

const word = (digits: string): string => `0x${digits.padStart(64, '0')}`;

/** Returns the address as `0x` and 64 lowercase hex digits; empty if it is invalid. */
export function toAccount(value: unknown): string {
  if (typeof value !== 'string') return '';
  if (value.length === 66) return value.toLowerCase();
  const digits = /^0x([0-9a-fA-F]{1,64})$/.exec(value)?.[1];
  return digits === undefined ? '' : word(digits.toLowerCase());
}

const MAX_TYPES = 10_000;
/** Caches normalized types, because the same few occur in every block. */
const types = new Map<string, string>();

/** Works like {@link toMovePath}, with a cache for frequent values. */
export function toType(value: string): string {
  let type = types.get(value);
  if (type === undefined) {
    type = toMovePath(value);
    if (types.size >= MAX_TYPES) types.clear();
    types.set(value, type);
  }
  return type;
}
