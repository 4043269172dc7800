/** Decides when a value that a stream reads is due, and whether its condition holds. */
import type { ReadCondition } from '@sluice/kit/contract';

/** A block, or the last block in which a value was read. */
interface Moment {
  number: number;
  /** Unix seconds. */
  timestamp: number;
}

/** Returns whether the value is sent regardless of the value before it. */
export const isEvery = (when: ReadCondition): when is Extract<ReadCondition, { every: number }> =>
  when !== 'changes' && 'every' in when;

/** Returns whether the value is read in a block; `last` is undefined if it was never read. */
export function isDue(when: ReadCondition, last: Moment | undefined, block: Moment): boolean {
  if (!isEvery(when) || last === undefined) return true;
  const at = when.unit === 'seconds' ? 'timestamp' : 'number';
  return Math.floor(block[at] / when.every) > Math.floor(last[at] / when.every);
}

/** Returns the threshold of a comparison; undefined for other conditions. */
export function thresholdOf(when: ReadCondition): string | undefined {
  if (when === 'changes') return undefined;
  if ('below' in when) return when.below;
  if ('above' in when) return when.above;
  return 'crosses' in when ? when.crosses : undefined;
}

/**
 * Returns whether a value is sent. Values are JSON; those of comparisons are integers as decimal
 * text.
 *
 * @param before the last known value; undefined if there is none
 * @param decimals decimals of the unit of the threshold
 */
export function isMet(
  when: ReadCondition,
  before: string | undefined,
  after: string,
  decimals: number,
): boolean {
  if (when === 'changes') return before !== undefined && before !== after;
  if ('every' in when) return true;
  const sideOf = (value: string, threshold: string): number =>
    compareDecimal(BigInt(JSON.parse(value) as string), threshold, decimals);
  if ('crosses' in when) {
    const isBelow = (value: string): boolean => sideOf(value, when.crosses) < 0;
    return before !== undefined && isBelow(before) !== isBelow(after);
  }
  const holds =
    'below' in when
      ? (value: string): boolean => sideOf(value, when.below) < 0
      : (value: string): boolean => sideOf(value, when.above) > 0;
  return holds(after) && (before === undefined || !holds(before));
}

/** Compares an integer with a decimal threshold exactly: negative if the integer is smaller. */
export function compareDecimal(value: bigint, threshold: string, decimals: number): number {
  const [whole = '', fraction = ''] = threshold.split('.');
  const left = value * 10n ** BigInt(fraction.length);
  const right = BigInt(whole + fraction) * 10n ** BigInt(decimals);
  return left < right ? -1 : left > right ? 1 : 0;
}
