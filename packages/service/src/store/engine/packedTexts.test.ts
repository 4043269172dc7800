import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packTexts } from './packedTexts.ts';

test('property: each text can be read back, and shares memory of at most 64 KiB', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.nat({ max: 80_000 }).map((length) => '☕'.repeat(length)),
  );
  fc.assert(
    fc.property(fc.array(text, { maxLength: 40 }), (texts) => {
      const packed = packTexts(texts);
      expect(packed.map((bytes) => Buffer.from(bytes).toString())).toEqual(texts);
      for (const { buffer, byteLength } of packed) {
        expect(buffer.byteLength).toBeLessThanOrEqual(Math.max(byteLength, 64 * 1024));
      }
    }),
    { numRuns: 30 },
  );
});

test('small texts are stored together, in order', () => {
  const [a, b, c] = packTexts(['one', 'zwei', 'x'.repeat(64 * 1024)]);
  expect(b!.buffer).toBe(a!.buffer);
  expect([a!.byteOffset, b!.byteOffset]).toEqual([0, 3]);
  expect(c!.buffer.byteLength).toBe(64 * 1024);
});
