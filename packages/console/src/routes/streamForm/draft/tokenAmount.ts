/** Converts between token amounts in decimal text and the integers in events. */
import type { ContractDetails } from '@sluice/kit/sluice';
import { formatAmount } from '../../../ui/text/formatAmount.ts';

export interface TokenUnit {
  symbol: string;
  decimals: number;
}

/** A token whose amounts can be entered in its unit. */
export interface Token extends TokenUnit {
  /** Address of the contract, in lowercase. */
  address: string;
}

/** Maximum length of a symbol that is used as a unit. Contracts can choose any symbol. */
const MAX_SYMBOL_LENGTH = 20;

/**
 * Returns the unit of a token; null for NFTs, for other contracts, and for tokens without decimals
 * or a usable symbol.
 */
export function unitOf(contract: ContractDetails | undefined): TokenUnit | null {
  const token = contract?.token;
  if (token == null || token.standard !== '' || token.decimals === null) return null;
  const { symbol, decimals } = token;
  return /^\S+$/.test(symbol) && symbol.length <= MAX_SYMBOL_LENGTH ? { symbol, decimals } : null;
}

/** Matches the names of parameters that contain amounts in token events. */
const AMOUNT = /^_?(value|amount|wad)$/;

/**
 * Returns whether a parameter's name and type suggest an amount of the token that emits the event.
 */
export const isAmount = ({ name, type }: { name: string; type: string }): boolean =>
  type === 'uint256' && AMOUNT.test(name);

/**
 * Formats an amount without the symbol, such as `1,000,000`. Returns null if the value is not a
 * decimal integer without a sign.
 */
export const toNumber = (value: string, { decimals }: TokenUnit): string | null =>
  formatAmount(value.trim(), decimals);

/**
 * Formats an amount with the symbol, such as `1,000,000 USDT`. Returns null if the value is not a
 * decimal integer without a sign.
 */
export function toAmount(value: string, unit: TokenUnit): string | null {
  const amount = toNumber(value, unit);
  return amount === null ? null : `${amount} ${unit.symbol}`;
}

/** Matches a number with optional thousands separators and an optional unit. */
const AMOUNT_OF = /^((?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?)(?:\s+(\S+)|([^\d\s.,]\S*))?$/;

/**
 * Converts an amount such as `1,000,000.5` or `1,000,000.5 USDT` to the smallest unit, ignoring the
 * case of the symbol. Returns null for other text, and for more decimals than the token has.
 */
export function readAmount(text: string, { symbol, decimals }: TokenUnit): string | null {
  const [, number = '', apart, unit = apart] = AMOUNT_OF.exec(text.trim()) ?? [];
  if (number === '') return null;
  if (unit !== undefined && unit.toLowerCase() !== symbol.toLowerCase()) return null;
  const [integer = '', fraction = ''] = number.replaceAll(',', '').split('.');
  if (fraction.length > decimals) return null;
  return String(BigInt(integer + fraction.padEnd(decimals, '0') || '0'));
}

/**
 * Returns whether the text contains a unit. A number with a unit must not be interpreted as an
 * amount in the smallest unit.
 */
export const hasUnit = (text: string): boolean =>
  /[\d.]\s{0,9}[^\d\s.,]/.test(text) && !/^\s*0x/i.test(text);
