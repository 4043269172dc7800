import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rowAt, topsOf } from './unevenRows.ts';

test('the row at a position is the one that covers it, or the nearest', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 60 }),
      fc.integer({ min: -200, max: 6_000 }),
      (heights, place) => {
        const tops = topsOf(heights);
        const end = heights.reduce((sum, height) => sum + height, 0);
        expect(tops.at(-1)).toBe(end);
        const row = rowAt(tops, place);
        const inside = Math.max(0, Math.min(end - 1, place));
        expect(tops[row]).toBeLessThanOrEqual(inside);
        expect(tops[row + 1]).toBeGreaterThan(inside);
      },
    ),
  );
  expect(rowAt(topsOf([]), 5)).toBe(0);
});
