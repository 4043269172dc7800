import { formatCount } from './format.ts';

/**
 * Formats a token amount given in the smallest unit, with thousands separators and no trailing
 * zeros. Returns null for invalid values, which a chain may contain.
 */
export function formatAmount(value: string, decimals: number): string | null {
  if (!/^\d{1,78}$/.test(value) || !Number.isInteger(decimals) || decimals < 0 || decimals > 77) {
    return null;
  }
  const digits = value.padStart(decimals + 1, '0');
  const whole = formatCount(BigInt(digits.slice(0, digits.length - decimals)));
  const [fraction] = /^(?:0*[1-9])*/.exec(digits.slice(digits.length - decimals))!;
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
