/** Ids as people copy them from a line or a table: whole, or shortened to their start, their end, or both. */
import type { SluiceClient } from '@sluice/kit/sluice';
import { CommandError } from './terminal/errors.ts';

const WHOLE = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const PART = /^[\da-f-]*$/;
/** Fewer characters are short for too many ids. */
const LEAST = 4;
/** Without a start that says when a delivery was made, this many of the newest are looked through. */
const NEWEST = 10_000;
const PAGE = 100;
const SHOWN = 5;
/** Digits of an id that are its time in milliseconds; eight of them tell it to 65 s. */
const TIME_DIGITS = 12;
const LEAST_TIME_DIGITS = 8;

interface Shape {
  start: string;
  end: string;
  fits(id: string): boolean;
}

/** Undefined for what is no shortened id. */
function toShape(given: string): Shape | undefined {
  const text = given.toLowerCase();
  const parts = text.split(/…|\.\.\./);
  if (parts.length > 2 || parts.join('').length < LEAST) return undefined;
  if (!parts.every((part) => PART.test(part))) return undefined;
  const [start = '', end] = parts;
  if (end === undefined) {
    return { start, end: start, fits: (id) => id.startsWith(start) || id.endsWith(start) };
  }
  return { start, end, fits: (id) => id.startsWith(start) && id.endsWith(end) };
}

/**
 * Chooses the one of these ids that is meant; undefined where none is.
 *
 * @throws CommandError `usage` with the candidates where several are.
 */
export function chooseId(given: string, ids: readonly string[], what: string): string | undefined {
  const wanted = given.toLowerCase();
  if (ids.includes(wanted)) return wanted;
  const shape = toShape(given);
  const found = shape === undefined ? [] : ids.filter(shape.fits);
  if (found.length <= 1) return found[0];
  const more = found.length > SHOWN ? `, and ${found.length - SHOWN} more` : '';
  throw new CommandError(
    'usage',
    `${given} is short for ${found.length} ${what}`,
    `name one: ${found.slice(0, SHOWN).join(', ')}${more}`,
  );
}

/** Whether this can only be a shortened id, and no number of a block and no hash. */
export const isShortId = (given: string): boolean =>
  !WHOLE.test(given) && !/^\d+$/.test(given) && toShape(given) !== undefined;

/**
 * The whole id of the delivery that is meant. What is no shortened id is answered as it is.
 *
 * @throws CommandError as {@link chooseId}; `not_found` where no delivery has such an id.
 */
export async function findDeliveryId(sluice: SluiceClient, given: string): Promise<string> {
  const shape = WHOLE.test(given) ? undefined : toShape(given);
  if (shape === undefined) return given;
  const ids: string[] = [];
  for (const range of [toTimes(shape), {}]) {
    // A start that is no time finds nothing, and may yet be an end.
    if (range === undefined) continue;
    for await (const { id } of sluice.listDeliveries({ ...range, limit: PAGE })) {
      ids.push(id);
      if (ids.length >= NEWEST) break;
    }
    const found = chooseId(given, ids, 'deliveries');
    if (found !== undefined) return found;
    ids.length = 0;
  }
  throw new CommandError(
    'not_found',
    `None of the newest ${NEWEST} deliveries has the id ${given}`,
    'give the whole id: sluice deliveries list --wide',
  );
}

/** Within which a delivery with this start was made: ids begin with their time. */
function toTimes({ start }: Shape): { createdFrom: number; createdTo: number } | undefined {
  const digits = start.replaceAll('-', '').slice(0, TIME_DIGITS);
  if (digits.length < LEAST_TIME_DIGITS) return undefined;
  const time = (fill: string): number => Number.parseInt(digits.padEnd(TIME_DIGITS, fill), 16);
  return { createdFrom: time('0') - 1_000, createdTo: time('f') + 1_000 };
}

/** The same for a replay. */
export async function findReplayId(sluice: SluiceClient, given: string): Promise<string> {
  if (WHOLE.test(given)) return given;
  const ids = (await sluice.listReplays()).map(({ id }) => id);
  return chooseId(given, ids, 'replays') ?? given;
}
