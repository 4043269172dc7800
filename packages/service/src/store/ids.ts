import { randomUUID } from 'node:crypto';

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
  return format(lastMs, sequence, randomTail());
}

/** An id as of a time that has passed, for what is written down later: it stands anywhere among those of its millisecond. */
export function pastId(ms: number): string {
  return `${firstIdAt(ms).slice(0, 15)}${randomUUID().slice(15)}`;
}

/** The variant and 62 random bits, as a UUID of version 4 has them too: Node draws for many of those at once. */
const randomTail = (): string => randomUUID().slice(19);

/** No id made from this time on comes before it. */
export const firstIdAt = (ms: number): string =>
  format(Math.min(Math.max(0, ms), MAX_ID_MS), 0, '0000-000000000000');

function format(ms: number, order: number, tail: string): string {
  const time = ms.toString(16).padStart(12, '0');
  const version = (0x7000 | order).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${tail}`;
}

/** When an id was made, in Unix milliseconds. */
export const timeOfId = (id: string): number =>
  Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
