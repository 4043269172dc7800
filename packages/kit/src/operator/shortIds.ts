/**
 * Resolves ids that were copied from logs or tables: complete, or shortened to their start, end or
 * both.
 */

const WHOLE = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const PART = /^[\da-f-]*$/;
/** Minimum length of a shortened id; shorter ones match too many ids. */
const LEAST = 4;
/** Maximum number of deliveries that each of the two searches of `findDeliveryIds` reads. */
const NEWEST = 10_000;
const PAGE = 100;
/**
 * Number of hex digits at the start of an id that encode its creation time in milliseconds. The
 * first eight are accurate to 65 s, which is enough for a search.
 */
const TIME_DIGITS = 12;
const MIN_TIME_DIGITS = 8;

interface Shape {
  start: string;
  fits(id: string): boolean;
}

/** Parses a complete or shortened id, or returns undefined for other text. */
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

/** Returns whether the text can only be a shortened id, not a complete id, block number or hash. */
export const isShortId = (given: string): boolean =>
  !WHOLE.test(given.trim()) && !/^\d+$/.test(given.trim()) && toShape(given) !== undefined;

/**
 * Returns the `ids` that `given` equals or shortens. Shortened ids look like `0190f3c2`,
 * `…9c1d60aa` or `0190f3…60aa`.
 */
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
 * Returns the ids of deliveries that `given` shortens; several if it is ambiguous. If `given`
 * starts with at least eight digits, searches around the creation time that they encode. If there
 * is no match, searches the newest 10,000 deliveries.
 */
export async function findDeliveryIds(sluice: Deliveries, given: string): Promise<string[]> {
  const shape = toShape(given);
  if (shape === undefined) return [];
  for (const range of [toTimes(shape), {}]) {
    // The newest deliveries are searched, too, because the text may be the end of an id.
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

/**
 * Returns the period in which a delivery was created, from the start of its id; undefined if the
 * start is too short.
 */
function toTimes({ start }: Shape): { createdFrom: number; createdTo: number } | undefined {
  const digits = start.replaceAll('-', '').slice(0, TIME_DIGITS);
  if (digits.length < MIN_TIME_DIGITS) return undefined;
  const time = (fill: string): number => Number.parseInt(digits.padEnd(TIME_DIGITS, fill), 16);
  return { createdFrom: time('0') - 1_000, createdTo: time('f') + 1_000 };
}
