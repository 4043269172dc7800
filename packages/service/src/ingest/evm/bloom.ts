/** Ethereum's 2048-bit log filter (Yellow Paper 4.3.1): which addresses and topics logs may hold. */
import { keccak256 } from '@sluice/kit/contract';

const BLOOM_BYTES = 256;

/** The bits of addresses and topics met before: in one block the same ones come again and again. */
export type KnownBits = Map<string, readonly number[]>;

/** The filter of these logs. */
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

function bitsOf(item: string): number[] {
  const hash = Buffer.from(keccak256(Buffer.from(item.slice(2), 'hex')).slice(2), 'hex');
  return [0, 2, 4].map((pair) => hash.readUInt16BE(pair) & 2047);
}

/**
 * Whether every bit of `promised` is set by `logs`. A bit that no log sets means a log is missing.
 * The other direction is no error: some chains add logs (Polygon's state sync) that the header's
 * filter leaves out.
 */
export function covers(logs: Uint8Array, promised: Uint8Array): boolean {
  return promised.every((byte, n) => (byte & ~logs[n]!) === 0);
}
