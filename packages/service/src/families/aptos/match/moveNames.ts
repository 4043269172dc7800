/** Normalizes addresses and Move types, which nodes, users and contracts abbreviate differently. */
import { toMovePath } from '@sluice/kit/contract';

const word = (digits: string): string => `0x${digits.padStart(64, '0')}`;

/**
 * Returns the address as `0x` and 64 lowercase hex digits, or an empty string if it is invalid. A
 * value of 66 characters is only lowercased, not checked.
 */
export function toAccount(value: unknown): string {
  if (typeof value !== 'string') return '';
  if (value.length === 66) return value.toLowerCase();
  const digits = /^0x([0-9a-fA-F]{1,64})$/.exec(value)?.[1];
  return digits === undefined ? '' : word(digits.toLowerCase());
}

const MAX_TYPES = 10_000;
/** Cache of normalized types. The same few types occur in every block. */
const types = new Map<string, string>();

/** Normalizes a Move type like {@link toMovePath}, and caches the result. */
export function normalizeType(value: string): string {
  let type = types.get(value);
  if (type === undefined) {
    type = toMovePath(value);
    if (types.size >= MAX_TYPES) types.clear();
    types.set(value, type);
  }
  return type;
}
