import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  MAX_AHEAD,
  type Progress,
  acknowledge,
  countUnread,
  endLeases,
  freeIn,
  leasedIn,
  release,
  sizeOf,
  startAfter,
} from './progress.ts';
import { toRanges } from './ranges.ts';

const expand = (ranges: readonly (readonly [number, number])[]): number[] =>
  ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, n) => from + n));

const HEAD = 30;
const positions = fc.uniqueArray(fc.integer({ min: 1, max: HEAD }), { minLength: 1 });
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('acknowledge' as const), positions }),
    fc.record({
      kind: fc.constant('lease' as const),
      until: fc.integer({ min: 1, max: 3 }),
      limit: fc.integer({ min: 1, max: 9 }),
    }),
    fc.record({
      kind: fc.constant('release' as const),
      until: fc.integer({ min: 1, max: 3 }),
      positions,
    }),
    fc.record({ kind: fc.constant('end leases' as const) }),
  ),
);

test('property: each position is acknowledged, leased or free, and leased to one reader', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const acked = new Set<number>();
      const leased = new Map<number, number>();
      let progress: Progress = startAfter(0);
      for (const step of all) {
        if (step.kind === 'acknowledge') {
          progress = acknowledge(progress, toRanges(step.positions));
          for (const each of step.positions) {
            acked.add(each);
            leased.delete(each);
          }
        } else if (step.kind === 'lease') {
          const taken = expand(freeIn(progress, HEAD)).slice(0, step.limit);
          expect(taken.filter((each) => acked.has(each) || leased.has(each))).toEqual([]);
          const lease = { until: step.until, ranges: toRanges(taken) };
          progress = { ...progress, leases: [...progress.leases, lease] };
          for (const each of taken) leased.set(each, step.until);
        } else if (step.kind === 'release') {
          progress = release(progress, step.until, toRanges(step.positions));
          for (const each of step.positions) {
            if (leased.get(each) === step.until) leased.delete(each);
          }
        } else {
          progress = endLeases(progress, 10);
          leased.clear();
        }
        expect(sizeOf(leasedIn(progress))).toBe(leased.size);
        const free = Array.from({ length: HEAD }, (_, n) => n + 1).filter(
          (each) => !acked.has(each) && !leased.has(each),
        );
        expect(expand(freeIn(progress, HEAD))).toEqual(free);
        expect(countUnread(progress, HEAD)).toBe(free.length);
        expect(acked.has(progress.position + 1)).toBe(false);
      }
    }),
  );
});

test('a consumer gets at most 10,000 positions from its first unacknowledged one on', () => {
  const progress = { ...startAfter(5), leases: [{ until: 1, ranges: [[6, 8_000] as const] }] };
  expect(freeIn(progress, 50_000)).toEqual([[8_001, 5 + MAX_AHEAD]]);
  const full = { ...progress, leases: [{ until: 1, ranges: [[6, 5 + MAX_AHEAD] as const] }] };
  expect(freeIn(full, 50_000)).toEqual([]);
  expect(freeIn(acknowledge(full, [[6, 7]]), 50_000)).toEqual([[6 + MAX_AHEAD, 7 + MAX_AHEAD]]);
});
