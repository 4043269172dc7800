/** Ethereum's 2048-bit log filter (Yellow Paper 4.3.1): which addresses and topics a block may hold. */
import { keccak256 } from '@sluice/kit/contract';

const BLOOM_BYTES = 256;

/** The filter of these logs. */
export function bloomOf(
  logs: Iterable<{ address: string; topics: readonly string[] }>,
): Uint8Array {
  const bloom = new Uint8Array(BLOOM_BYTES);
  const done = new Set<string>();
  for (const log of logs) {
    for (const item of [log.address, ...log.topics]) {
      if (done.has(item)) continue;
      done.add(item);
      const hash = Buffer.from(keccak256(Buffer.from(item.slice(2), 'hex')).slice(2), 'hex');
      for (const pair of [0, 2, 4]) {
        const bit = hash.readUInt16BE(pair) & 2047;
        bloom[BLOOM_BYTES - 1 - (bit >> 3)]! |= 1 << (bit & 7);
      }
    }
  }
  return bloom;
}

/**
 * Whether every bit of `header` is set by `logs`. A bit that no log sets means a log is missing.
 * The other direction is no error: some chains add logs (Polygon's state sync) that the header's
 * filter leaves out.
 */
export function covers(logs: Uint8Array, header: Uint8Array): boolean {
  return header.every((byte, n) => (byte & ~logs[n]!) === 0);
}
