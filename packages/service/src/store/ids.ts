import { randomUUID } from 'node:crypto';

/** The latest time that an id can contain, in the year 10889. */
const MAX_ID_MS = 2 ** 48 - 1;

let lastMs = 0;
let sequence = 0;

/**
 * Returns a version 7 UUID (RFC 9562), which sorts by creation time, so that lists need no other
 * order. Within this process, ids are always in order, even if the clock goes back.
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

/**
 * Returns an id for a time in the past, for data that is recorded later. Its position among ids of
 * the same millisecond is arbitrary.
 */
export function pastId(ms: number): string {
  return `${firstIdAt(ms).slice(0, 15)}${randomUUID().slice(15)}`;
}

/**
 * Returns the variant and 62 random bits, cut from a version 4 UUID, because Node generates its
 * random bytes in bulk.
 */
const randomTail = (): string => randomUUID().slice(19);

/** Returns the lower bound of all ids created at this time or later. */
export const firstIdAt = (ms: number): string =>
  format(Math.min(Math.max(0, ms), MAX_ID_MS), 0, '0000-000000000000');

function format(ms: number, order: number, tail: string): string {
  const time = ms.toString(16).padStart(12, '0');
  const version = (0x7000 | order).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${tail}`;
}

/** Returns the creation time of an id in Unix milliseconds. */
export const timeOfId = (id: string): number =>
  Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
