/** EVM addresses and how they are spelled. */
import { keccak256 } from './hash.ts';

const ADDRESS = /^0[xX][0-9a-fA-F]{40}$/;

/**
 * The address in lower case, as webhooks spell it, or undefined when `value` is none.
 * Any casing is accepted; a checksum is not required to be right.
 */
export function toAddress(value: unknown): string | undefined {
  return typeof value === 'string' && ADDRESS.test(value) ? value.toLowerCase() : undefined;
}

/**
 * The address with its EIP-55 checksum casing.
 * @throws TypeError when `address` is not `0x` and 40 hex digits.
 */
export function checksumAddress(address: string): string {
  const lower = toAddress(address);
  if (lower === undefined) throw new TypeError('An EVM address is 0x and 40 hex digits');
  const hash = keccak256(lower.slice(2));
  let checksummed = '0x';
  for (let at = 2; at < lower.length; at++) {
    const digit = lower.charAt(at);
    checksummed += hash.charAt(at) >= '8' ? digit.toUpperCase() : digit;
  }
  return checksummed;
}
