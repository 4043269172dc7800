import { timeOfId } from '@sluice/kit/contract';
import { randomUUID } from 'node:crypto';

/** Latest time that an id can contain, in Unix milliseconds (year 10889). */
const MAX_ID_MS = 2 ** 48 - 1;

let lastMs = 0;
let sequence = 0;

/**
 * Returns a version 7 UUID (RFC 9562). Ids sort by creation time and, within a process, always in
 * order of creation, even if the clock goes back. {@link continueIdsAfter} keeps this order across
 * processes.
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
 * Makes all later ids of this process sort after an id that another process created, even if that
 * process's clock was ahead.
 */
export function continueIdsAfter(id: string): void {
  const ms = timeOfId(id);
  if (ms < lastMs) return;
  lastMs = ms;
  sequence = 0xfff;
}

/**
 * Returns an id with a past creation time, for data that is recorded later. The order of ids within
 * a millisecond is arbitrary.
 */
export function pastId(ms: number): string {
  return `${firstIdAt(ms).slice(0, 15)}${randomUUID().slice(15)}`;
}

/**
 * Returns the last part of a UUID: the variant and 62 random bits. Takes it from a version 4 UUID,
 * because Node generates the random bytes for such UUIDs in bulk.
 */
const randomTail = (): string => randomUUID().slice(19);

/** Returns a lower bound for the ids that are created at this time or later. */
export const firstIdAt = (ms: number): string =>
  format(Math.min(Math.max(0, ms), MAX_ID_MS), 0, '0000-000000000000');

function format(ms: number, order: number, tail: string): string {
  const time = ms.toString(16).padStart(12, '0');
  const version = (0x7000 | order).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${tail}`;
}
