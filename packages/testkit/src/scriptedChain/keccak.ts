import { getHashes, hash } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Hex } from 'viem';

// OpenSSL 3.2 and later have a native Keccak, which is ten times as fast as the JavaScript one.
// Node lists the hash if its OpenSSL has it.
const isNative = getHashes().includes('keccak-256');

export function keccak(bytes: Uint8Array): Uint8Array {
  return isNative ? hash('keccak-256', bytes, 'buffer') : keccak_256(bytes);
}

/**
 * Returns the Keccak hash of a string. Hashes serve as values that look random but are the same on
 * every run.
 */
export function keccakOfText(text: string): Hex {
  return toHex(keccak(Buffer.from(text)));
}

export function toHex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`;
}

export function fromHex(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex');
}
