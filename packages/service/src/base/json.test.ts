import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from './json.ts';

const utf16 = fc
  .array(fc.oneof(fc.integer({ min: 0xd7f0, max: 0xe010 }), fc.nat({ max: 0xffff })))
  .map((units) => String.fromCharCode(...units));

test('property: parses like JSON.parse, but with well-formed strings', () => {
  fc.assert(
    fc.property(utf16, utf16, (key, value) => {
      const json = JSON.stringify({ [key]: [value, 1, null] });
      expect(parseJson(json)).toEqual({ [key.toWellFormed()]: [value.toWellFormed(), 1, null] });
    }),
  );
});

test.each([
  ['"a\\ud83d"', 'a\u{fffd}'],
  ['"\\uDE00b"', '\u{fffd}b'],
  ['"\\ud83d\\ude00"', '😀'],
  ['"\\\\ud83d"', '\\ud83d'],
])('%s', (json, text) => {
  expect(parseJson(json)).toBe(text);
});

test('an own key named __proto__ remains an own key', () => {
  expect(Object.keys(parseJson('{"__proto__":"\\ud83d"}') as object)).toEqual(['__proto__']);
});
