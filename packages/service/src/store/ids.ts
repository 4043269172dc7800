import { randomBytes, randomUUID } from 'node:crypto';

/** The last time that an id can hold: in the year 10889. */
const MAX_ID_MS = 2 ** 48 - 1;

let lastMs = 0;
let sequence = 0;

/**
 * A UUID of version 7 (RFC 9562): its order is the order of creation, so that rows of one time stand
 * together in an index and a list needs no other order. Within this process never out of order, even
 * when the clock goes back.
 */
export function newId(nowMs = Date.now()): string {
  sequence++;
  if (nowMs > lastMs) {
    lastMs = nowMs;
    sequence = 0;
  } else if (sequence > 0xfff) {
    lastMs++;
    sequence = 0;
  }
  const random = randomBytes(8);
  // Variant bits 10.
  random[0] = (random[0]! & 0x3f) | 0x80;
  return format(lastMs, sequence, random.toString('hex'));
}

/** An id as of a time that has passed, for what is written down later: it stands anywhere among those of its millisecond. */
export function pastId(ms: number): string {
  const random = randomUUID();
  return `${firstIdAt(ms).slice(0, 15)}${random.slice(15)}`;
}

/** No id made from this time on comes before it. */
export const firstIdAt = (ms: number): string =>
  format(Math.min(Math.max(0, ms), MAX_ID_MS), 0, '0'.repeat(16));

function format(ms: number, order: number, tail: string): string {
  const time = ms.toString(16).padStart(12, '0');
  const version = (0x7000 | order).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${tail.slice(0, 4)}-${tail.slice(4)}`;
}

/** When an id was made, in Unix milliseconds. */
export const timeOfId = (id: string): number =>
  Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
