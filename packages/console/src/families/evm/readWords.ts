/** Describes values on chain in words. */
import type { ReadCondition, StreamRead } from '@sluice/kit/contract';
import { formatCount, formatHash, formatQuantity } from '../../ui/text/format.ts';
import { formatAmount } from '../../ui/text/formatAmount.ts';

/** Returns the name of a read function, from its signature. */
export const nameOfFunction = (signature: string): string =>
  signature
    .replace(/^function\s+/, '')
    .split('(')[0]!
    .trim();

/**
 * Describes a value and when it is sent, such as
 * `native balance of 0x7099…79c8 when it falls below 1,000.5`.
 * @param symbol symbol of the token or currency; undefined if unknown.
 */
export const describeRead = (read: StreamRead, symbol?: string): string =>
  `${describeValue(read, symbol)} ${describeCondition(read.when, symbol)}`;

function describeValue(read: StreamRead, symbol: string | undefined): string {
  const { contract = '', function: called, arguments: given = [], output, balance, of } = read;
  if (balance === undefined) {
    const name = nameOfFunction(typeof called === 'object' ? (called.name ?? '') : (called ?? ''));
    const part = output === undefined ? '' : `${output} of `;
    const values = given.map((value) =>
      formatHash(typeof value === 'string' ? value : JSON.stringify(value)),
    );
    return `${part}${name || '…'}(${values.join(', ')}) of ${formatHash(contract || '…')}`;
  }
  const token = balance === 'native' ? 'native' : (symbol ?? formatHash(balance));
  const [first, ...others] = of ?? [];
  const accounts =
    first === undefined
      ? 'the stream’s addresses'
      : others.length === 0
        ? formatHash(first)
        : formatQuantity(others.length + 1, 'account');
  return `${token} balance of ${accounts}`;
}

/** Describes when a value is sent. */
export function describeCondition(when: ReadCondition, symbol?: string): string {
  if (when === 'changes') return 'when it changes';
  if ('every' in when) {
    const unit = when.unit === 'seconds' ? 'second' : 'block';
    return `every ${when.every === 1 ? unit : formatQuantity(when.every, unit)}`;
  }
  const [word, threshold] =
    'below' in when
      ? ['falls below', when.below]
      : 'above' in when
        ? ['rises above', when.above]
        : ['crosses', when.crosses];
  const unit = symbol === undefined ? '' : ` ${symbol}`;
  return `when it ${word} ${groupDigits(threshold)}${unit}`;
}

/** Formats an integer in the unit of its decimals; null for other values. */
export function formatInUnit(value: unknown, decimals: number | null): string | null {
  if (typeof value !== 'string' || !/^-?\d+$/.test(value)) return null;
  const amount = formatAmount(value.replace('-', ''), decimals ?? 0);
  return amount === null ? null : `${value.startsWith('-') ? '−' : ''}${amount}`;
}

/** Adds thousands separators to decimal text. */
function groupDigits(text: string): string {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(text) ?? [];
  return whole === '' ? text || '…' : `${sign}${formatCount(BigInt(whole))}${rest}`;
}
