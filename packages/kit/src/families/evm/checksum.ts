/**
 * EIP-55 checksums. This file is separate from `address.ts`, because code that only parses
 * addresses does not need a hash function.
 */
import { toAddress } from './address.ts';
import { keccak256 } from '../../contract/rules/hash.ts';

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
