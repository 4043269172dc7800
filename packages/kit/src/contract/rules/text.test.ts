import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutText, findNearest } from './text.ts';

const utf16 = fc
  .array(fc.oneof(fc.integer({ min: 0xd7f0, max: 0xe010 }), fc.nat({ max: 0xffff })))
  .map((units) => String.fromCharCode(...units));

test('property: a cut keeps the first code points and splits none', () => {
  fc.assert(
    fc.property(utf16, fc.nat({ max: 30 }), (text, length) => {
      expect(cutText(text, length)).toBe(Array.from(text).slice(0, length).join(''));
    }),
  );
});

const TYPES = ['address', 'bool', 'string', 'uint256', 'int256'];

test.each([
  ['adress', 'address'],
  ['addresss', 'address'],
  ['Address', 'address'],
  ['uint265', 'uint256'],
  ['srting', 'string'],
  ['boool', 'bool'],
  ['token', undefined],
  ['b', undefined],
  ['a'.repeat(1_000), undefined],
])('%s: the nearest word is %s', (word, meant) => {
  expect(findNearest(word, TYPES)).toBe(meant);
});
