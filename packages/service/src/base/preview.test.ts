import fc from 'fast-check';
import { expect, test } from 'vitest';
import { previewText, previewJson } from './preview.ts';

test('property: a preview is the JSON of a value, or the beginning of it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 300 }), (value, limit) => {
      expect(previewJson(value, limit)).toBe(previewText(JSON.stringify(value), limit));
    }),
  );
});

test('a preview reads only the part of the value that it shows', () => {
  const list = new Proxy([], {
    get: (_, key) => {
      if (key === 'length') return 2 ** 32 - 1;
      if (Number(key) > 200) throw new Error(`read element ${String(key)}`);
      return 0;
    },
  });
  expect(previewJson(list, 200)).toBe(`${'[0' + ',0'.repeat(99)}…`);
  expect(previewJson('a'.repeat(10_000_000), 10)).toBe(`"${'a'.repeat(9)}…`);
});

test('a value without JSON is shown as `nothing`', () => {
  expect(previewJson(undefined, 200)).toBe('nothing');
});
