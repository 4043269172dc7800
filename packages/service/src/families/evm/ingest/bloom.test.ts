import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bloomOf, covers } from './bloom.ts';

const hexOf = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((data) => `0x${Buffer.from(data).toString('hex')}`);
const log = fc.record({ address: hexOf(20), topics: fc.array(hexOf(32), { maxLength: 4 }) });

describe('bloom', () => {
  test('sets the three bits that Ethereum defines for an address', () => {
    // keccak256 of the zero address starts with the byte pairs 0x5380, 0xc7b7 and 0xae81.
    const bloom = bloomOf([{ address: `0x${'00'.repeat(20)}`, topics: [] }]);
    const bits = [0x5380 & 2047, 0xc7b7 & 2047, 0xae81 & 2047];
    const expected = new Uint8Array(256);
    for (const bit of bits) expected[255 - (bit >> 3)]! |= 1 << (bit & 7);
    expect(Buffer.from(bloom).toString('hex')).toBe(Buffer.from(expected).toString('hex'));
  });

  test('property: logs cover their own filter, but not a filter of more logs', () => {
    fc.assert(
      fc.property(fc.array(log, { maxLength: 20 }), log, (some, one) => {
        const all = bloomOf([...some, one]);
        expect(covers(all, bloomOf(some))).toBe(true);
        const without = bloomOf(some);
        expect(covers(without, all)).toBe(Buffer.compare(without, all) === 0);
      }),
    );
  });

  test('an empty filter is covered without logs', () => {
    expect(covers(bloomOf([]), new Uint8Array(256))).toBe(true);
  });
});
