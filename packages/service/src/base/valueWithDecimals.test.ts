import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toValueWithDecimals } from './valueWithDecimals.ts';

const MAX = 2n ** 256n - 1n;

describe('valueWithDecimals', () => {
  test.each([
    // Amounts that were captured from the hosted service.
    ['4856560000000000000000', 18, '4856.56'],
    [
      MAX.toString(),
      6,
      '1.15792089237316195423570985008687907853269984665640564039457584007913129639935e+71',
    ],
    [
      MAX.toString(),
      18,
      '1.15792089237316195423570985008687907853269984665640564039457584007913129639935e+59',
    ],
    ['9000000000', 6, '9000'],
    ['12345', 6, '0.012345'],
    ['0', 18, '0'],
    ['1', 0, '1'],
    // bignumber.js switches to exponents at these values.
    ['999999999999999999999', 0, '999999999999999999999'],
    ['1000000000000000000000', 0, '1e+21'],
    ['1', 6, '0.000001'],
    ['1', 7, '1e-7'],
    ['12', 8, '1.2e-7'],
    ['1', 255, '1e-255'],
    // A double would round these.
    ['9007199254740993', 0, '9007199254740993'],
    ['9007199254740993', 18, '0.009007199254740993'],
  ])('%s with %i decimals is %s', (value, decimals, expected) => {
    expect(toValueWithDecimals(value, decimals)).toBe(expected);
  });

  test('property: equals the number as JavaScript writes it, if a double is exact enough', () => {
    // A double is exact to 15 digits, and JavaScript switches to exponents at the same two
    // thresholds as bignumber.js.
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e15 - 1 }), fc.nat(255), (value, decimals) => {
        expect(toValueWithDecimals(String(value), decimals)).toBe(
          String(Number(`${value}e-${decimals}`)),
        );
      }),
    );
  });

  test('property: is exactly value / 10^decimals, for any uint256', () => {
    const anyLength = fc
      .tuple(fc.bigInt({ min: 0n, max: MAX }), fc.nat(255))
      .map(([value, bits]) => value >> BigInt(bits));
    fc.assert(
      fc.property(anyLength, fc.nat(255), (value, decimals) => {
        const text = toValueWithDecimals(value.toString(), decimals);
        const [, whole = '', fraction = '', power = '0'] =
          /^(\d+)(?:\.(\d*[1-9]))?(?:e([+-]\d+))?$/.exec(text)!;
        // Compares whole.fraction * 10^power * 10^decimals with `value`, using integers on both
        // sides.
        const shift = Number(power) - fraction.length + decimals;
        const mantissa = BigInt(whole + fraction);
        expect(shift >= 0 ? mantissa * 10n ** BigInt(shift) : mantissa).toBe(
          shift >= 0 ? value : value * 10n ** BigInt(-shift),
        );
      }),
    );
  });
});
