import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EvmFee, EvmTransaction } from './block.ts';
import { toTransactionFee } from './selection.ts';

const hex = (value: bigint): string => `0x${value.toString(16)}`;
const feeOf = (gasUsed: string | null, fee: EvmFee | null) =>
  toTransactionFee({ receipt: { gasUsed, fee } } as EvmTransaction);

test.each<[gasUsed: bigint, price: bigint, l1Fee: bigint, text: string]>([
  [21_000n, 1_000_000_000n, 0n, '0.000021'],
  [21_000n, 14_730_818_000n, 0n, '0.000309347178'],
  [21_000n, 7n, 0n, '0.000000000000147'],
  [21_000n, 1_000_000_000n, 79_000_000_000_001n, '0.000100000000000001'],
  [21_000n, 0n, 0n, '0'],
  [1n, 10n ** 18n, 0n, '1'],
  [3n, 10n ** 39n, 0n, '3000000000000000000000'],
])('%i gas at %i wei, with an L1 fee of %i wei, cost %s', (gasUsed, price, l1Fee, text) => {
  expect(feeOf(hex(gasUsed), { price: hex(price), l1Fee: hex(l1Fee) })).toBe(text);
});

test('a fee is null if a part of it is missing', () => {
  expect(feeOf(null, { price: '0x1', l1Fee: '0x0' })).toBeNull();
  expect(feeOf('0x5208', null)).toBeNull();
});

test('property: a fee is exact, without an exponent and without trailing zeros', () => {
  const any = fc.bigInt({ min: 0n, max: 2n ** 96n });
  fc.assert(
    fc.property(any, any, any, (gasUsed, price, l1Fee) => {
      const text = feeOf(hex(gasUsed), { price: hex(price), l1Fee: hex(l1Fee) })!;
      expect(text).toMatch(/^(0|[1-9]\d*)(\.\d{0,17}[1-9])?$/);
      const [whole, fraction = ''] = text.split('.');
      expect(BigInt(whole + fraction.padEnd(18, '0'))).toBe(gasUsed * price + l1Fee);
    }),
  );
});
