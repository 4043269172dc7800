import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addRanges, gapsIn, toRanges } from './ranges.ts';

const positions = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 40 });
const expand = (ranges: readonly (readonly [number, number])[]): number[] =>
  ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, n) => from + n));
const byNumber = (a: number, b: number): number => a - b;

test('property: ranges have exactly the positions that were added, and none touch', () => {
  fc.assert(
    fc.property(positions, positions, (some, more) => {
      const ranges = addRanges(toRanges(some), toRanges(more));
      expect(expand(ranges)).toEqual([...new Set([...some, ...more])].toSorted(byNumber));
      for (const [n, [from]] of ranges.entries()) {
        if (n > 0) expect(from).toBeGreaterThan(ranges[n - 1]![1] + 1);
      }
    }),
  );
});

test('property: gaps have exactly the positions of the range that are not taken', () => {
  fc.assert(
    fc.property(positions, fc.nat(20), fc.nat(40), (taken, from, to) => {
      const isTaken = new Set(taken);
      const free = expand([[from, to]]).filter((each) => !isTaken.has(each));
      expect(expand(gapsIn([from, to], toRanges(taken)))).toEqual(from <= to ? free : []);
    }),
  );
});
