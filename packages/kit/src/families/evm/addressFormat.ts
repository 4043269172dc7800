import type { AddressFormat } from '../addressFormat.ts';
import { toAddress } from './address.ts';
import { checksumAddress } from './checksum.ts';

/** Addresses with valid checksums, cached because the console parses its list on each keystroke. */
const right = new Set<string>();
const MAX_RIGHT = 5_000;

export const EVM_ADDRESS_FORMAT: AddressFormat = {
  toAddress,
  digits: 'An EVM address has 40 digits',
  doubtOf(given, address) {
    if (/^0x0+$/.test(address)) {
      return 'This is the zero address, which is part of every mint and burn';
    }
    // Addresses with only lowercase or only uppercase letters have no checksum.
    const isMixed = /[a-f]/.test(given.slice(2)) && /[A-F]/.test(given);
    if (!isMixed || right.has(given)) return undefined;
    if (checksumAddress(address) !== `0x${given.slice(2)}`) {
      return 'The EIP-55 checksum does not match: the address may have a typo';
    }
    if (right.size >= MAX_RIGHT) right.clear();
    right.add(given);
    return undefined;
  },
};
