/** Converts token amounts between decimal text and the integers of events. Pure. */
import type { Contract } from '@sluice/kit/sluice';
import { formatAmount } from '../../../ui/text/format.ts';

export interface TokenUnit {
  symbol: string;
  decimals: number;
}

/** Maximum length of a symbol that is used as a unit. Contracts can choose any symbol. */
const MAX_SYMBOL_LENGTH = 20;

/** Returns the unit of a token; null if it has no amounts or reports no unit. */
export function unitOf(contract: Contract | undefined): TokenUnit | null {
  const token = contract?.token;
  if (token == null || token.standard !== '' || token.decimals === null) return null;
  const { symbol, decimals } = token;
  return /^\S+$/.test(symbol) && symbol.length <= MAX_SYMBOL_LENGTH ? { symbol, decimals } : null;
}

/** Parameter names of amounts in token events. */
const AMOUNT = /^_?(value|amount|wad)$/;

/** Returns whether the parameter is an amount of the token that emits the event. */
export const isAmount = ({ name, type }: { name: string; type: string }): boolean =>
  type === 'uint256' && AMOUNT.test(name);

/** Formats an amount: `1,000,000 USDT`. Returns null if the value is not an integer. */
export function toAmount(value: string, { symbol, decimals }: TokenUnit): string | null {
  const amount = formatAmount(value.trim(), decimals);
  return amount === null ? null : `${amount} ${symbol}`;
}

/** A number and its unit, with or without a space. */
const AMOUNT_OF = /^((?:\d[\d,]*)?(?:\.\d+)?)(?:\s+(\S+)|([^\d\s.,]\S*))$/;

/** Parses an amount such as `1,000,000 USDT`, ignoring case; null for other text. */
export function fromAmount(text: string, { symbol, decimals }: TokenUnit): string | null {
  const [, number = '', apart = '', unit = apart] = AMOUNT_OF.exec(text.trim()) ?? [];
  if (number === '' || unit.toLowerCase() !== symbol.toLowerCase()) return null;
  const [integer = '', fraction = ''] = number.replaceAll(',', '').split('.');
  if (fraction.length > decimals) return null;
  return String(BigInt(integer + fraction.padEnd(decimals, '0') || '0'));
}
