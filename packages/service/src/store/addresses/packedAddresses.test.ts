import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packAddresses, sortAddresses, unpackAddresses } from './packedAddresses.ts';

/** Generates addresses from only four byte values, so that many of them share their first bytes. */
const address = fc
  .array(fc.constantFrom('00', '01', 'ab', 'ff'), { minLength: 20, maxLength: 20 })
  .map((bytes) => `0x${bytes.join('')}`);
const alike = fc.nat(200).map((n) => `0x${n.toString(16).padStart(40, '0')}`);

test('property: unpacking reverses packing, and sorting yields each address once, in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(address, alike), { maxLength: 300 }), async (addresses) => {
      expect(unpackAddresses(packAddresses(addresses))).toEqual(addresses);
      const sorted = await sortAddresses(packAddresses(addresses));
      expect(unpackAddresses(sorted)).toEqual([...new Set(addresses)].toSorted());
    }),
  );
});

test('Aptos addresses have 32 bytes', async () => {
  const addresses = ['ff', '0a', 'ff'].map((digits) => `0x${digits.padStart(64, '0')}`);
  const packed = packAddresses(addresses, 32);
  expect(packed.bytes).toHaveLength(96);
  expect(unpackAddresses(await sortAddresses(packed))).toEqual([addresses[1], addresses[0]]);
});

test('long lists, sorted in several steps, are sorted like short ones', async () => {
  // Three large, interleaved groups that differ in one byte, with descending numbers. Almost every
  // address occurs twice.
  const addresses = Array.from({ length: 130_000 }, (_, n) => {
    const half = (130_000 - n) >> 1;
    return `0x${(half % 3).toString(16).padStart(30, '0')}${half.toString(16).padStart(10, '0')}`;
  });
  const sorted = await sortAddresses(packAddresses(addresses));
  expect(unpackAddresses(sorted)).toEqual([...new Set(addresses)].toSorted());
});
