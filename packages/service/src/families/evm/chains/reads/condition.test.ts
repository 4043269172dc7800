import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareDecimal, isDue, isMet } from './condition.ts';

const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const json = (value: bigint): string => JSON.stringify(String(value));

test('an integer equals the same number written in its unit', () => {
  fc.assert(
    fc.property(
      uint256,
      fc.integer({ min: 0, max: 77 }),
      fc.constantFrom(1n, -1n),
      (n, decimals, sign) => {
        const digits = String(n).padStart(decimals + 1, '0');
        const at = digits.length - decimals;
        const text = `${sign < 0n ? '-' : ''}${digits.slice(0, at)}${decimals > 0 ? '.' : ''}${digits.slice(at)}`;
        const value = sign * n;
        expect(compareDecimal(value, text, decimals)).toBe(0);
        expect(compareDecimal(value + 1n, text, decimals)).toBe(1);
        expect(compareDecimal(value - 1n, text, decimals)).toBe(-1);
      },
    ),
  );
});

test('a threshold may have more decimals than the value', () => {
  expect(compareDecimal(1n, '1.5', 0)).toBe(-1);
  expect(compareDecimal(2n, '1.5', 0)).toBe(1);
  expect(compareDecimal(-1n, '-1.5', 0)).toBe(1);
  expect(compareDecimal(0n, '-0.5', 0)).toBe(1);
  expect(compareDecimal(-1n, '-0.5', 0)).toBe(-1);
});

test('a comparison is met once per crossing, and at first only if it holds', () => {
  const value = fc.bigInt({ min: 0n, max: 4n });
  fc.assert(
    fc.property(fc.array(value, { maxLength: 20 }), (values) => {
      const met = { below: 0, above: 0, crosses: 0 };
      const expected = { below: 0, above: 0, crosses: 0 };
      let before: bigint | undefined;
      for (const after of values) {
        const known = before === undefined ? undefined : json(before);
        if (isMet({ below: '0.2' }, known, json(after), 1)) met.below++;
        if (isMet({ above: '0.2' }, known, json(after), 1)) met.above++;
        if (isMet({ crosses: '0.2' }, known, json(after), 1)) met.crosses++;
        if (after < 2n && (before === undefined || before >= 2n)) expected.below++;
        if (after > 2n && (before === undefined || before <= 2n)) expected.above++;
        if (before !== undefined && before < 2n !== after < 2n) expected.crosses++;
        before = after;
      }
      expect(met).toEqual(expected);
    }),
  );
});

test('a change is met by any other value, but not by the first', () => {
  expect(isMet('changes', undefined, '"1"', 0)).toBe(false);
  expect(isMet('changes', '"1"', '"1"', 0)).toBe(false);
  expect(isMet('changes', '["1",true]', '["1",false]', 0)).toBe(true);
});

test('a value of every interval is due in the first block of each', () => {
  const at = (number: number, timestamp: number) => ({ number, timestamp });
  expect(isDue({ every: 10 }, undefined, at(7, 0))).toBe(true);
  expect(isDue({ every: 10 }, at(7, 0), at(9, 0))).toBe(false);
  expect(isDue({ every: 10 }, at(9, 0), at(10, 0))).toBe(true);
  // A block of the interval is due even if its first one is missing.
  expect(isDue({ every: 10 }, at(9, 0), at(15, 0))).toBe(true);
  expect(isDue({ every: 60, unit: 'seconds' }, at(1, 119), at(2, 120))).toBe(true);
  expect(isDue({ every: 60, unit: 'seconds' }, at(1, 120), at(2, 179))).toBe(false);
  expect(isDue('changes', at(1, 1), at(2, 2))).toBe(true);
});
