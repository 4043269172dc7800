import type { Hex } from 'viem';
import { fromHex, keccak } from './keccak.ts';

/** The parts of a log that are added to a bloom. */
export interface BloomInput {
  address: Hex;
  topics: readonly Hex[];
}

const bloomBytes = 256;

/**
 * Computes the logs bloom of Ethereum (yellow paper, section 4.3.1): each address and topic sets
 * three of 2,048 bits, selected by the first three pairs of bytes of its keccak hash.
 */
export function bloomOf(logs: Iterable<BloomInput>): Uint8Array {
  const bloom = new Uint8Array(bloomBytes);
  for (const { address, topics } of logs) {
    setBits(bloom, address);
    for (const topic of topics) setBits(bloom, topic);
  }
  return bloom;
}

/**
 * Returns whether a bloom may contain the value. True can be a false positive; false is certain.
 */
export function bloomMayHold(bloom: Uint8Array, value: Hex): boolean {
  return bitsOf(value).every((bit) => ((bloom[byteOf(bit)] as number) & (1 << (bit & 7))) !== 0);
}

function setBits(bloom: Uint8Array, value: Hex): void {
  for (const bit of bitsOf(value)) {
    const byte = byteOf(bit);
    bloom[byte] = (bloom[byte] as number) | (1 << (bit & 7));
  }
}

/** Returns the index of the byte that contains a bit. Bit 0 is the lowest bit of the last byte. */
function byteOf(bit: number): number {
  return bloomBytes - 1 - (bit >> 3);
}

type Bits = readonly [number, number, number];

/**
 * Bits by value, cached because a block of 50,000 logs repeats the same few addresses and topics.
 */
const knownBits = new Map<Hex, Bits>();
const mostKnownBits = 10_000;

function bitsOf(value: Hex): Bits {
  const known = knownBits.get(value);
  if (known) return known;
  const hash = keccak(fromHex(value));
  const pair = (at: number) => (((hash[at] as number) << 8) | (hash[at + 1] as number)) & 2047;
  const bits: Bits = [pair(0), pair(2), pair(4)];
  if (knownBits.size === mostKnownBits) knownBits.clear();
  knownBits.set(value, bits);
  return bits;
}
