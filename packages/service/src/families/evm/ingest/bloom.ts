/**
 * Computes and compares blooms, Ethereum's filters of the addresses and topics in logs (Yellow
 * Paper 4.3.1).
 */
import { keccak256 } from '@sluice/kit/contract';

export const BLOOM_BYTES = 256;

/** A cache of the bits of addresses and topics, which repeat often within a block. */
export type KnownBits = Map<string, readonly number[]>;

export function bloomOf(
  logs: Iterable<{ address: string; topics: readonly string[] }>,
  known: KnownBits = new Map(),
): Uint8Array {
  const bloom = new Uint8Array(BLOOM_BYTES);
  for (const log of logs) {
    for (const item of [log.address, ...log.topics]) {
      let bits = known.get(item);
      if (bits === undefined) {
        bits = bitsOf(item);
        known.set(item, bits);
      }
      for (const bit of bits) bloom[BLOOM_BYTES - 1 - (bit >> 3)]! |= 1 << (bit & 7);
    }
  }
  return bloom;
}

/** Returns the positions of the three bits that an address or topic sets. */
export function bitsOf(item: string): number[] {
  const hash = Buffer.from(keccak256(Buffer.from(item.slice(2), 'hex')).slice(2), 'hex');
  return [0, 2, 4].map((pair) => hash.readUInt16BE(pair) & 2047);
}

export const hasBit = (bloom: Uint8Array, bit: number): boolean =>
  (bloom[BLOOM_BYTES - 1 - (bit >> 3)]! & (1 << (bit & 7))) !== 0;

/**
 * Returns whether `logs` sets every bit of `promised`; an unset bit means that a log is missing.
 * Extra bits are allowed, because some chains add logs that the header's filter omits.
 */
export function covers(logs: Uint8Array, promised: Uint8Array): boolean {
  return promised.every((byte, n) => (byte & ~logs[n]!) === 0);
}
