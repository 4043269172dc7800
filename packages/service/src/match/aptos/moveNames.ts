/** Addresses and Move types in one spelling: nodes, users and contracts write them short and long. */
import { toMovePath } from '@sluice/kit/contract';

const word = (digits: string): string => `0x${digits.padStart(64, '0')}`;

/** `0x` and 64 hex digits in lower case; empty for what is no address. */
export function toAccount(value: unknown): string {
  if (typeof value !== 'string') return '';
  if (value.length === 66) return value.toLowerCase();
  const digits = /^0x([0-9a-fA-F]{1,64})$/.exec(value)?.[1];
  return digits === undefined ? '' : word(digits.toLowerCase());
}

const MAX_TYPES = 10_000;
/** Types as nodes spell them; the same few come in every block. */
const types = new Map<string, string>();

/** {@link toMovePath}, of a value that comes often. */
export function toType(value: string): string {
  let type = types.get(value);
  if (type === undefined) {
    type = toMovePath(value);
    if (types.size >= MAX_TYPES) types.clear();
    types.set(value, type);
  }
  return type;
}
