/** Ids as people copy them from a line or a table: whole, or shortened to their start, their end, or both. */

const WHOLE = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const PART = /^[\da-f-]*$/;
/** Fewer characters are short for too many ids. */
const LEAST = 4;
/** Without a start that says when a delivery was made, this many of the newest are looked through. */
const NEWEST = 10_000;
const PAGE = 100;
/** Digits of an id that are its time in milliseconds; eight of them tell it to 65 s. */
const TIME_DIGITS = 12;
const LEAST_TIME_DIGITS = 8;

interface Shape {
  start: string;
  fits(id: string): boolean;
}

/** Undefined for what is not a shortened id. */
function toShape(given: string): Shape | undefined {
  const text = given.trim().toLowerCase();
  const parts = text.split(/…|\.\.\./);
  if (parts.length > 2 || parts.join('').length < LEAST) return undefined;
  if (!parts.every((part) => PART.test(part))) return undefined;
  const [start = '', end] = parts;
  if (end === undefined) {
    return { start, fits: (id) => id.startsWith(start) || id.endsWith(start) };
  }
  return { start, fits: (id) => id.startsWith(start) && id.endsWith(end) };
}

/** Whether this can only be a shortened id, and not a whole one, a block number or a hash. */
export const isShortId = (given: string): boolean =>
  !WHOLE.test(given.trim()) && !/^\d+$/.test(given.trim()) && toShape(given) !== undefined;

/** Returns those of `ids` that `given` is, or is short for: `0190f3c2`, `…9c1d60aa`, `0190f3…60aa`. */
export function matchIds(given: string, ids: readonly string[]): string[] {
  const whole = given.trim().toLowerCase();
  if (ids.includes(whole)) return [whole];
  const shape = toShape(given);
  return shape === undefined ? [] : ids.filter(shape.fits);
}

interface Deliveries {
  listDeliveries(query: {
    createdFrom?: number;
    createdTo?: number;
    limit: number;
  }): AsyncIterable<{ readonly id: string }>;
}

/**
 * Returns the ids of the deliveries that `given` is short for: one where it is clear, several where it is not, none
 * where no delivery has it. Without a start that tells its time, the newest 10,000 are searched.
 */
export async function findDeliveryIds(sluice: Deliveries, given: string): Promise<string[]> {
  const shape = toShape(given);
  if (shape === undefined) return [];
  for (const range of [toTimes(shape), {}]) {
    // A start that is not a time finds nothing, and may yet be an end.
    if (range === undefined) continue;
    const ids: string[] = [];
    for await (const { id } of sluice.listDeliveries({ ...range, limit: PAGE })) {
      ids.push(id);
      if (ids.length >= NEWEST) break;
    }
    const found = matchIds(given, ids);
    if (found.length > 0) return found;
  }
  return [];
}

/** When a delivery with this start was made: ids begin with their time. */
function toTimes({ start }: Shape): { createdFrom: number; createdTo: number } | undefined {
  const digits = start.replaceAll('-', '').slice(0, TIME_DIGITS);
  if (digits.length < LEAST_TIME_DIGITS) return undefined;
  const time = (fill: string): number => Number.parseInt(digits.padEnd(TIME_DIGITS, fill), 16);
  return { createdFrom: time('0') - 1_000, createdTo: time('f') + 1_000 };
}
