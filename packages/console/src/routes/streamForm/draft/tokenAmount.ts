/** Amounts of a token as people write them, and as its events have them. Pure. */
import type { Contract } from '@sluice/kit/sluice';
import { formatAmount } from '../../../ui/text/format.ts';

export interface TokenUnit {
  symbol: string;
  decimals: number;
}

/** Names of one's own making are shown, but too long ones are no unit. */
const LONGEST_SYMBOL = 20;

/** In which unit a contract counts; null where it is no token of amounts, or does not say. */
export function unitOf(contract: Contract | undefined): TokenUnit | null {
  const token = contract?.token;
  if (token == null || token.standard !== '' || token.decimals === null) return null;
  const { symbol, decimals } = token;
  return /^\S+$/.test(symbol) && symbol.length <= LONGEST_SYMBOL ? { symbol, decimals } : null;
}

/** What events of tokens call their amounts. */
const AMOUNT = /^_?(value|amount|wad)$/;

/** Whether the parameter is an amount of the token that emits the event. */
export const isAmount = ({ name, type }: { name: string; type: string }): boolean =>
  type === 'uint256' && AMOUNT.test(name);

/** `1,000,000 USDT`; null where the value is no whole number. */
export function toAmount(value: string, { symbol, decimals }: TokenUnit): string | null {
  const amount = formatAmount(value.trim(), decimals);
  return amount === null ? null : `${amount} ${symbol}`;
}

/** A number, and its unit with a space between or without. */
const AMOUNT_OF = /^((?:\d[\d,]*)?(?:\.\d+)?)(?:\s+(\S+)|([^\d\s.,]\S*))$/;

/** The value of `1,000,000 USDT`, in either case; null where no such amount is written. */
export function fromAmount(text: string, { symbol, decimals }: TokenUnit): string | null {
  const [, number = '', apart = '', unit = apart] = AMOUNT_OF.exec(text.trim()) ?? [];
  if (number === '' || unit.toLowerCase() !== symbol.toLowerCase()) return null;
  const [whole = '', fraction = ''] = number.replaceAll(',', '').split('.');
  if (fraction.length > decimals) return null;
  return String(BigInt(whole + fraction.padEnd(decimals, '0') || '0'));
}
