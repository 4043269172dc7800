import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createBlockPace } from './blockPace.ts';

/** Observes arrivals, in milliseconds by height, with polls that are `gapMs` apart. */
function observeAll(arrivals: readonly (readonly [number: number, atMs: number])[], gapMs: number) {
  const pace = createBlockPace();
  let next = 0;
  for (let atMs = arrivals[0]![1]; next < arrivals.length; atMs += gapMs) {
    const before = next;
    while (next < arrivals.length && arrivals[next]![1] <= atMs) next++;
    if (next > before) pace.observe(arrivals[next - 1]![0], atMs - gapMs, atMs);
  }
  return pace;
}

/** Polls in step with the blocks see less of the pace, e.g. of 3,131 ms with polls 900 ms apart. */
const MAX_ERROR = 0.02;
/** The same if some slots have no block: of 60,000 random paces, the worst was 2.8 % off. */
const MAX_ERROR_WITH_SKIPS = 0.04;
/** A pace that counts no skipped slot is 1.7 to 5 % off. */
const USUAL_ERROR_WITH_SKIPS = 0.005;

const slots = (count: number): number[] => Array.from({ length: count }, (_, slot) => slot);

describe('a steady block time', () => {
  test('is found for any pace, phase and jitter, from arrivals alone', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 100, max: 29_000, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.array(fc.double({ min: -0.05, max: 0.05, noNaN: true }), {
          minLength: 7,
          maxLength: 40,
        }),
        fc.double({ min: 0.3, max: 0.9, noNaN: true }),
        (blockMs, phase, jitters, gap) => {
          const arrivals = slots(120).map(
            (slot) =>
              [slot, (slot + phase + jitters[slot % jitters.length]!) * blockMs + 1e6] as const,
          );
          const found = observeAll(arrivals, gap * Math.min(blockMs, 1_000)).steadyMs();
          expect(Math.abs(found! / blockMs - 1)).toBeLessThan(MAX_ERROR);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('is found although some slots have no block', () => {
    const errors: number[] = [];
    fc.assert(
      fc.property(
        fc.double({ min: 3_000, max: 15_000, noNaN: true }),
        fc.integer({ min: 20, max: 60 }),
        (blockMs, every) => {
          const arrivals = slots(150)
            .filter((slot) => slot % every !== 3)
            .map((slot, number) => [number, slot * blockMs + 1e6] as const);
          const error = Math.abs(observeAll(arrivals, 900).steadyMs()! / blockMs - 1);
          expect(error).toBeLessThan(MAX_ERROR_WITH_SKIPS);
          errors.push(error);
        },
      ),
      { numRuns: 60 },
    );
    const usual = errors.toSorted((a, b) => a - b)[errors.length >> 1];
    expect(usual).toBeLessThan(USUAL_ERROR_WITH_SKIPS);
  });

  test('is found again after a long silence', () => {
    const late = slots(60).map((slot) => [60 + slot, slot * 517 + 1e7] as const);
    const early = slots(60).map((slot) => [slot, slot * 1_017 + 1e6] as const);
    expect(observeAll([...early, ...late], 300).steadyMs()).toBeCloseTo(517, -1);
  });
});

test('blocks at random times have an average, but hardly ever a steady block time', () => {
  for (const meanMs of [3_000, 12_000]) {
    let steady = 0;
    for (let seed = 1; seed <= 60; seed++) {
      let state = seed;
      const random = (): number => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        return state / 2 ** 32;
      };
      let atMs = 1e6;
      const arrivals = slots(120).map((number) => {
        atMs -= Math.log(1 - random()) * meanMs;
        return [number, atMs] as const;
      });
      const pace = observeAll(arrivals, 900);
      if (pace.steadyMs() !== undefined) steady++;
      expect(pace.averageMs()! / meanMs).toBeGreaterThan(0.4);
      expect(pace.averageMs()! / meanMs).toBeLessThan(2);
    }
    expect(steady).toBeLessThanOrEqual(3);
  }
});
