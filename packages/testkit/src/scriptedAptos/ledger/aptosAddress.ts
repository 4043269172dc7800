import { hash } from 'node:crypto';
import type { Hex } from 'viem';

/** The type of APT as a legacy coin. */
export const aptCoinType = '0x1::aptos_coin::AptosCoin';

/** The metadata address of APT as a fungible asset: 0xa. */
export const aptMetadata: Hex = `0x${'a'.padStart(64, '0')}`;

/**
 * Returns the form in which the ledger stores addresses: `0x` and 64 digits, lowercase.
 *
 * @throws Error if the string is not an address.
 */
export function toLongAddress(address: string): Hex {
  const digits = /^(?:0x)?([0-9a-f]{1,64})$/i.exec(address)?.[1];
  if (!digits) {
    throw new Error(
      `An Aptos address is 0x and 1 to 64 hex digits, not ${JSON.stringify(address)}`,
    );
  }
  return `0x${digits.toLowerCase().padStart(64, '0')}`;
}

/** Formats an address as nodes do, without leading zeros. */
export function toShortAddress(address: string): Hex {
  return `0x${toLongAddress(address)
    .slice(2)
    .replace(/^0{1,63}/, '')}`;
}

/** Formats a Move type as nodes do: short addresses, and one space after each comma. */
export function toCanonicalType(type: string): string {
  return type
    .replace(/\s+/g, '')
    .replaceAll(',', ', ')
    .replace(/0x[0-9a-f]+(?=::)/gi, (address) => toShortAddress(address));
}

/** Returns the address of a named object of `creator`. A fungible asset is named by its symbol. */
export function namedObjectOf(creator: string, name: string): Hex {
  return derive(creator, Buffer.from(name), 0xfe);
}

/** Returns the address of an owner's primary store for a fungible asset. */
export function primaryStoreOf(owner: string, metadata: string): Hex {
  return derive(owner, bytesOf(metadata), 0xfc);
}

/** Returns the address of a digital asset in a collection of `creator`. */
export function namedTokenOf(creator: string, collection: string, name: string): Hex {
  return namedObjectOf(creator, `${collection}::${name}`);
}

/**
 * Returns the SHA3-256 hash of a string. Hashes serve as values that look random but are the same
 * on every run.
 */
export function sha3OfText(text: string): Hex {
  return `0x${hash('sha3-256', text)}`;
}

function derive(source: string, seed: Buffer, scheme: number): Hex {
  const bytes = Buffer.concat([bytesOf(source), seed, Buffer.from([scheme])]);
  return `0x${hash('sha3-256', bytes)}`;
}

function bytesOf(address: string): Buffer {
  return Buffer.from(toLongAddress(address).slice(2), 'hex');
}
