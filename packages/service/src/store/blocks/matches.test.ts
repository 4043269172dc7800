import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chunksOf } from './matches.ts';

const MIB = 1024 * 1024;

test('property: a statement gets at most 500 rows and 16 MiB of text, or a single row', () => {
  const sizes = fc.array(fc.oneof(fc.nat(100), fc.nat(20 * MIB)), { maxLength: 1_500 });
  fc.assert(
    fc.property(sizes, (rows) => {
      const chunks = [...chunksOf(rows, (size) => size)];
      expect(chunks.flat()).toEqual(rows);
      for (const chunk of chunks) {
        expect(chunk.length).toBeGreaterThan(0);
        expect(chunk.length).toBeLessThanOrEqual(500);
        const total = chunk.reduce((sum, size) => sum + size, 0);
        expect(chunk.length === 1 || total <= 16 * MIB).toBe(true);
      }
    }),
  );
  expect([...chunksOf(Array.from({ length: 1_001 }, () => 0))].map((each) => each.length)).toEqual([
    500, 500, 1,
  ]);
});
