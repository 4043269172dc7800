/** The decoded form of a record of a webhook, and helpers to build it. */
import { formatAmount } from '../ui/text/formatAmount.ts';

export interface DecodedField {
  name: string;
  value: string;
  /** Explanation of the value, such as `250 USDC`; empty if there is nothing to add. */
  note: string;
}

export interface DecodedRecord {
  /** Name of the event or kind of record, such as `Transfer` or `Internal transaction`. */
  title: string;
  /** Description, such as `ERC-20 USDC`; empty if there is none. */
  about: string;
  fields: DecodedField[];
  /** Position in its block, such as `log 214`; empty if there is none. */
  place: string;
  txHash: string;
  /** True if no ABI, service record or known topic identifies the event. */
  unknown: boolean;
}

export type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const listOf = (value: unknown): Json[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value);

export const createField = (name: string, value: unknown, note = ''): DecodedField => ({
  name,
  value: textOf(value),
  note,
});

/**
 * Formats the amount of a record, such as `1,200.5 USDT`; empty if the record does not contain the
 * decimals of its token or coin.
 */
export function amountOf(record: Json): string {
  const { value, coin } = record;
  const [decimals, symbol] = isObject(coin)
    ? [coin['decimals'], coin['symbol']]
    : [record['tokenDecimals'], record['tokenSymbol']];
  if (typeof value !== 'string' || decimals === '' || !/^\d+$/.test(textOf(decimals))) return '';
  const amount = formatAmount(value, Number(decimals));
  return amount === null ? '' : `${amount} ${textOf(symbol)}`.trim();
}
