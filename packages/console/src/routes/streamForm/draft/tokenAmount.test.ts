import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasUnit, isAmount, readAmount, toAmount, unitOf } from './tokenAmount.ts';

const USDT = { symbol: 'USDT', decimals: 6 };

test.each([
  ['1,000,000 USDT', '1000000000000'],
  ['1.5 usdt', '1500000'],
  ['.5usdt', '500000'],
  ['0 USDT', '0'],
  ['1.0000001 USDT', null],
  ['1 USDC', null],
  ['1000000', '1000000000000'],
  ['1,000.5', '1000500000'],
  ['1,5', null],
  ['1,0000', null],
  ['', null],
  ['USDT', null],
  ['-1 USDT', null],
  ['1.2.3 USDT', null],
])('the amount %j is read as %j', (text, value) => {
  expect(readAmount(text, USDT)).toBe(value);
});

test('property: parsing a formatted amount returns its value', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.nat(77), (value, decimals) => {
      const unit = { symbol: 'X', decimals };
      expect(readAmount(toAmount(String(value), unit)!, unit)).toBe(String(value));
    }),
  );
});

test('a unit is recognized, and hex digits are not a unit', () => {
  for (const text of ['1 USDT', '1.5usdt', '2 1INCH']) expect(hasUnit(text)).toBe(true);
  for (const text of ['', '1,000.5', 'abc', '-1', '0xff']) expect(hasUnit(text)).toBe(false);
});

test('a value that is not an integer has no amount', () => {
  for (const value of ['', 'abc', '1.5', '-1', '0x10']) expect(toAmount(value, USDT)).toBeNull();
});

test('only tokens with amounts have a unit', () => {
  const token = { name: 'Tether', symbol: 'USDT', decimals: 6, standard: '' } as const;
  expect(unitOf({ isContract: true, token })).toEqual(USDT);
  expect(unitOf({ isContract: true, token: { ...token, standard: 'ERC721' } })).toBeNull();
  expect(unitOf({ isContract: true, token: { ...token, decimals: null } })).toBeNull();
  expect(unitOf({ isContract: true, token: { ...token, symbol: '' } })).toBeNull();
  expect(unitOf({ isContract: true, token: { ...token, symbol: 'two words' } })).toBeNull();
  expect(unitOf({ isContract: true, token: null })).toBeNull();
  expect(unitOf(undefined)).toBeNull();
  expect(isAmount({ name: 'value', type: 'uint256' })).toBe(true);
  expect(isAmount({ name: 'tokenId', type: 'uint256' })).toBe(false);
  expect(isAmount({ name: 'value', type: 'address' })).toBe(false);
});
