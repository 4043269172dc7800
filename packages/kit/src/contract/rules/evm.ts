/** EVM addresses and their spelling. */
import { keccak256 } from './hash.ts';

const ADDRESS = /^0[xX][0-9a-fA-F]{40}$/;

/**
 * Returns the address in lowercase, as in webhooks, or undefined if `value` is not an address.
 * Accepts any casing, including a wrong checksum.
 */
export function toAddress(value: unknown): string | undefined {
  return typeof value === 'string' && ADDRESS.test(value) ? value.toLowerCase() : undefined;
}

/**
 * Returns the address with its EIP-55 checksum casing.
 * @throws TypeError if `address` is not `0x` and 40 hex digits.
 */
export function checksumAddress(address: string): string {
  const lower = toAddress(address);
  if (lower === undefined) throw new TypeError('An EVM address must be 0x and 40 hex digits');
  const hash = keccak256(lower.slice(2));
  let checksummed = '0x';
  for (let at = 2; at < lower.length; at++) {
    const digit = lower.charAt(at);
    checksummed += hash.charAt(at) >= '8' ? digit.toUpperCase() : digit;
  }
  return checksummed;
}
