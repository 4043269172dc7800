/** Amounts of at least 10^21 or less than 10^-6 are written with an exponent. */
const EXPONENT_FROM = 21;
const EXPONENT_BELOW = -6;

/**
 * Returns an exact token amount with its decimal point, in bignumber.js's default format: `1234500`
 * with 6 decimals is `1.2345`, the maximum uint256 with 18 is `…e+59`.
 *
 * @param value decimal digits without leading zeros
 * @param decimals 0 to 255
 */
export function toValueWithDecimals(value: string, decimals: number): string {
  if (value === '0') return '0';
  /** Power of ten of the first digit. */
  const power = value.length - 1 - decimals;
  if (power >= EXPONENT_FROM || power < EXPONENT_BELOW) {
    const digits = significantDigits(value);
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
    return `${digits[0]}${fraction}e${power > 0 ? '+' : ''}${power}`;
  }
  return toPlainDecimal(value, decimals);
}

/** Returns an exact amount with its decimal point, without an exponent and trailing zeros. */
export function toPlainDecimal(value: string, decimals: number): string {
  const padded = value.padStart(decimals + 1, '0');
  const whole = padded.slice(0, padded.length - decimals);
  const fraction = significantDigits(padded.slice(whole.length));
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** Returns the digits without trailing zeros. */
const significantDigits = (digits: string): string => /^(?:0*[1-9])*/.exec(digits)![0];
