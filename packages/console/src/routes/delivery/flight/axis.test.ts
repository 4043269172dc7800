import fc from 'fast-check';
import { expect, test } from 'vitest';
import { layOut, partAt, placeOf, type Interval } from './axis.ts';

const DAY_MS = 86_400_000;
const START = 1_700_000_000_000;

/** Consecutive parts of these lengths in milliseconds; null is a step without a time. */
function partsOf(lengths: readonly (number | null)[]): Interval[] {
  let at = START;
  return lengths.map((ms) => {
    if (ms === null) return { from: null, to: null };
    const from = at;
    at += ms;
    return { from, to: at };
  });
}

const lengths = fc.array(
  fc.oneof(
    fc.integer({ min: 0, max: 50 }),
    fc.integer({ min: 0, max: 30 * DAY_MS }),
    fc.constant(null),
  ),
  { minLength: 1, maxLength: 80 },
);

test('parts are in order, do not overlap, and fill the axis', () => {
  fc.assert(
    fc.property(lengths, (given) => {
      const places = layOut(partsOf(given));
      let end = 0;
      for (const { left, width } of places) {
        expect(left).toBeCloseTo(end, 9);
        expect(width).toBeGreaterThan(0);
        end = left + width;
      }
      expect(end).toBeCloseTo(1, 9);
    }),
  );
});

test('a longer part is never narrower', () => {
  fc.assert(
    fc.property(lengths, (given) => {
      const places = layOut(partsOf(given));
      const timed = given
        .flatMap((ms, n) => (ms === null ? [] : [{ ms, width: places[n]?.width ?? 0 }]))
        .toSorted((a, b) => a.ms - b.ms);
      for (const [n, { width }] of timed.entries()) {
        expect(width).toBeGreaterThanOrEqual((timed[n - 1]?.width ?? 0) - 1e-12);
      }
    }),
  );
});

test('a later time is never further left, and each end of a part is at its place', () => {
  const times = fc.array(fc.integer({ min: -DAY_MS, max: 90 * DAY_MS }), { maxLength: 20 });
  fc.assert(
    fc.property(lengths, times, (given, offsets) => {
      const parts = partsOf(given);
      const places = layOut(parts);
      let last = 0;
      for (const offset of offsets.toSorted((a, b) => a - b)) {
        const place = placeOf(START + offset, parts, places);
        expect(place).toBeGreaterThanOrEqual(last);
        expect(place).toBeLessThanOrEqual(1 + 1e-9);
        last = place;
      }
      for (const [n, { left, width }] of places.entries()) {
        const part = parts[n];
        if (part === undefined || part.from === null || part.to === part.from) continue;
        const middle = placeOf((part.from + part.to) / 2, parts, places);
        expect(middle).toBeCloseTo(left + width / 2, 9);
      }
    }),
  );
});

test('3 ms stay visible next to 12 hours, which have a break mark', () => {
  const places = layOut(partsOf([1_400, 3, 90, DAY_MS / 2, 40]));
  const [commit, dns, , wait] = places;
  // At least 15 of 600 pixels.
  expect(dns?.width).toBeGreaterThan(15 / 600);
  expect(wait?.width).toBeLessThan(0.6);
  expect(places.map(({ isBroken }) => isBroken)).toEqual([false, false, false, true, false]);
  expect(commit?.isBroken).toBe(false);
});

test('a step without a time has a place but no break, and the pointer selects its part', () => {
  const places = layOut(partsOf([1_400, null, null]));
  expect(places.map(({ isBroken }) => isBroken)).toEqual([false, false, false]);
  expect(places[1]?.width).toBe(places[2]?.width);
  for (const [n, { left, width }] of places.entries()) {
    expect(partAt(left + width / 2, places)).toBe(n);
  }
  expect(partAt(-0.1, places)).toBe(0);
  expect(partAt(1.1, places)).toBe(2);
});
