/** Describes why a value on chain is sent or not. */
import type { ReadCondition } from '@sluice/kit/contract';
import { formatUnits } from 'viem/utils';
import { previewText } from '../../../../base/preview.ts';
import { compareDecimal, thresholdOf } from './condition.ts';

/** Maximum length of a value in a message, in characters. */
const SHOWN = 100;

/** A value as JSON, and the last block that had it. */
export interface Known {
  block: number;
  value: string;
}

/**
 * Describes the result of comparing a value with its condition.
 *
 * @param isMet whether the condition holds
 * @param before the last known value; undefined if there is none
 * @param after the value as JSON
 * @param decimals decimals of the unit of the value; null if they are unknown
 */
export function describeResult(
  when: ReadCondition,
  {
    isMet,
    before,
    after,
    decimals,
  }: { isMet: boolean; before: Known | undefined; after: string; decimals: number | null },
): string {
  const show = (value: string): string => formatValue(value, decimals);
  const since =
    before === undefined ? '' : `, after ${show(before.value)} in block ${before.block}`;
  if (when === 'changes') {
    if (isMet) return `${show(after)}${since}`;
    return before === undefined
      ? `first value, nothing to compare with: ${show(after)}`
      : `unchanged: ${show(after)}`;
  }
  if ('every' in when) return `read ${describeCondition(when)}: ${show(after)}`;
  const threshold = thresholdOf(when)!;
  const side = compareDecimal(BigInt(JSON.parse(after) as string), threshold, decimals ?? 0);
  const place = `${SIDES[side + 1]} ${groupDigits(threshold)}`;
  if (isMet) return `${show(after)} is ${place}${since}`;
  if (before === undefined && 'crosses' in when) {
    return `first value, nothing to compare with: ${show(after)} is ${place}`;
  }
  const holds = 'crosses' in when || ('below' in when ? side < 0 : side > 0);
  if (!holds) return `${show(after)} is ${place}`;
  const already = 'crosses' in when ? `already ${side < 0 ? 'below' : 'above'} it` : 'already';
  return `${show(after)} is ${place}, and was ${already} in block ${before!.block}`;
}

const SIDES = ['below', 'equal to', 'above'];

/** Describes a condition: `every 100 blocks`, `below 1,000.5`. */
export function describeCondition(when: ReadCondition): string {
  if (when === 'changes') return when;
  if ('every' in when) {
    const { every, unit = 'blocks' } = when;
    return `every ${every === 1 ? unit.slice(0, -1) : `${every.toLocaleString('en')} ${unit}`}`;
  }
  const [[name, threshold]] = Object.entries(when) as [[string, string]];
  return `${name} ${groupDigits(threshold)}`;
}

/** Formats a value in its unit, exactly: `1,204.5`. */
function formatValue(json: string, decimals: number | null): string {
  const value = JSON.parse(json) as unknown;
  return previewText(
    typeof value === 'string' && /^-?\d+$/.test(value)
      ? groupDigits(formatUnits(BigInt(value), decimals ?? 0))
      : json,
    SHOWN,
  );
}

/** Separates the digits of a decimal number before its point into groups of three. */
function groupDigits(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.');
  const grouped = `${whole.startsWith('-') ? '-' : ''}${BigInt(whole.replace('-', '')).toLocaleString('en')}`;
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}
