/** Describes rules and their conditions in words. */
import { wordOfFilterName } from '../../../words/names.ts';
import { formatCount, formatHash } from '../../../ui/text/format.ts';
import {
  EMITTER,
  OPERATOR_WORDS,
  type Condition,
  type FilterRule,
  type Inputs,
} from '../../../families/draft.ts';
import { tokenOf, type KnownTokens } from './knownTokens.ts';
import { isAmount, toAmount, type TokenUnit } from './tokenAmount.ts';

/** Returns the name of an event or function, or its shortened hash. */
export const nameOfRule = (signature: string): string =>
  signature.startsWith('0x') ? formatHash(signature, 6) : (signature.split('(')[0] ?? signature);

/** Maximum length of a filter's JSON, in characters; longer JSON is truncated. */
const MAX_FILTER_LENGTH = 200;

/**
 * Describes which logs of an event or calls of a function are sent, such as `where value at least 1,000,000 USDT`.
 */
export function describeRule(
  { conditions, filterJson }: FilterRule,
  inputs: Inputs,
  known: KnownTokens,
): string {
  if (filterJson !== null) {
    return `where ${filterJson.replaceAll(/\s+/g, ' ').slice(0, MAX_FILTER_LENGTH)}`;
  }
  if (conditions.length === 0) return 'always';
  const token = tokenOf(conditions, known);
  const words = conditions.map((condition) => {
    const isOfToken = inputs.some((input) => input.name === condition.name && isAmount(input));
    return describeCondition(condition, isOfToken ? token : null, known);
  });
  return `where ${words.join(' and ')}`;
}

function describeCondition(
  { name, operator, value }: Condition,
  unit: TokenUnit | null,
  { tokens }: KnownTokens,
): string {
  const text = value.trim();
  const token =
    name === EMITTER ? tokens.find(({ address }) => address === text.toLowerCase()) : undefined;
  const amount = unit && toAmount(text, unit);
  const words = token?.symbol ?? amount ?? (text === '' ? '…' : shorten(text));
  return `${wordOfFilterName(name)} ${OPERATOR_WORDS[operator]} ${words}`;
}

/** Shortens addresses and hashes, and groups the digits of long numbers. */
export const shorten = (text: string): string => {
  if (/^0x[0-9a-f]{40,}$/i.test(text)) return formatHash(text);
  return /^\d{5,78}$/.test(text) ? formatCount(BigInt(text)) : text;
};
