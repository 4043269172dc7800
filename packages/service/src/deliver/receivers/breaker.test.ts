import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Breaker, createBreaker } from './breaker.ts';

const START = 1_000_000;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/**
 * Records `count` consecutive failures, starting at `at`. Returns whether the last one left the
 * success rate below 70.
 */
function fail(breaker: Breaker, count: number, at: number): boolean {
  let exhausted = false;
  for (let n = 0; n < count; n++) {
    exhausted = breaker.note({ succeeded: false, startedAt: at + n }, at + n).exhausted;
  }
  return exhausted;
}

describe('a circuit breaker', () => {
  test('lets everything through until ten consecutive failures', () => {
    const breaker = createBreaker();
    fail(breaker, 9, START);
    expect(breaker.room(5, START + 9)).toBe(Number.POSITIVE_INFINITY);
    breaker.note({ succeeded: true, startedAt: START }, START + 9);
    fail(breaker, 9, START + 10);
    expect(breaker.room(5, START + 19)).toBe(Number.POSITIVE_INFINITY);
    fail(breaker, 1, START + 20);
    expect(breaker.room(5, START + 21)).toBe(0);
  });

  test('opens when more than half of twenty attempts within a minute failed', () => {
    const breaker = createBreaker();
    for (let n = 0; n < 21; n++) {
      expect(breaker.room(0, START + n)).toBe(Number.POSITIVE_INFINITY);
      breaker.note({ succeeded: n % 2 === 1, startedAt: START + n }, START + n);
    }
    // No two failures were consecutive, but eleven of twenty-one attempts failed.
    expect(breaker.room(0, START + 21)).toBe(0);
  });

  test('then probes after 30 s, and half as often after each failed probe', () => {
    const breaker = createBreaker();
    fail(breaker, 10, START);
    let now = START + 9;
    for (const seconds of [30, 60, 120, 240, 480, 600, 600]) {
      expect(breaker.room(0, now + seconds * SECOND - 1)).toBe(0);
      now += seconds * SECOND;
      expect(breaker.room(0, now)).toBe(1);
      expect(breaker.room(1, now)).toBe(0);
      breaker.note({ succeeded: false, startedAt: now }, now);
    }
    breaker.note({ succeeded: true, startedAt: now }, now);
    expect(breaker.room(0, now)).toBe(Number.POSITIVE_INFINITY);
  });

  test('ignores failures of attempts that were in flight when it opened', () => {
    const breaker = createBreaker();
    fail(breaker, 10, START);
    for (let n = 0; n < 1000; n++) {
      expect(breaker.note({ succeeded: false, startedAt: START }, START + 100).exhausted).toBe(
        false,
      );
    }
    let failed = 10;
    let now = START + 100;
    for (;;) {
      now += 11 * MINUTE;
      const { exhausted } = breaker.note({ succeeded: false, startedAt: now }, now);
      failed++;
      if (exhausted) break;
    }
    expect(failed).toBe(31);
  });

  test('holds while a receiver throttles, which is not a failure', () => {
    const breaker = createBreaker();
    for (let n = 0; n < 50; n++) {
      breaker.note({ succeeded: false, throttledMs: 5_000, startedAt: START }, START);
    }
    expect(breaker.room(0, START + 4_999)).toBe(0);
    expect(breaker.room(0, START + 5_000)).toBe(Number.POSITIVE_INFINITY);
    breaker.note({ succeeded: false, throttledMs: 86_400_000, startedAt: START }, START);
    expect(breaker.room(0, START + 10 * MINUTE)).toBe(Number.POSITIVE_INFINITY);
  });

  test('reports the start, end and reason of a back-off', () => {
    const breaker = createBreaker();
    expect(breaker.backOff(START)).toBeUndefined();
    fail(breaker, 10, START);
    const since = START + 9;
    expect(breaker.backOff(since)).toEqual({
      reason: 'failures',
      since,
      until: since + 30 * SECOND,
    });
    const probedAt = since + 40 * SECOND;
    breaker.note({ succeeded: false, startedAt: probedAt }, probedAt);
    expect(breaker.backOff(probedAt)).toEqual({
      reason: 'failures',
      since,
      until: probedAt + 60 * SECOND,
    });
    // The receiver requests longer waits than those of the breaker.
    const askedAt = probedAt + SECOND;
    const throttledMs = 120 * SECOND;
    breaker.note({ succeeded: false, throttledMs, startedAt: askedAt }, askedAt);
    const later = { succeeded: false, throttledMs: 130 * SECOND, startedAt: askedAt };
    breaker.note(later, askedAt + SECOND);
    expect(breaker.backOff(askedAt + SECOND)).toEqual({
      reason: 'throttled',
      since: askedAt,
      until: askedAt + 131 * SECOND,
    });
    breaker.note({ succeeded: true, startedAt: askedAt }, askedAt + 131 * SECOND);
    expect(breaker.backOff(askedAt + 131 * SECOND)).toBeUndefined();
  });

  test('probes once, and earlier, when the receiver is believed to be back', () => {
    const breaker = createBreaker();
    fail(breaker, 10, START);
    breaker.hasten(START + SECOND);
    expect(breaker.room(0, START + SECOND - 1)).toBe(0);
    expect(breaker.room(0, START + SECOND)).toBe(1);
    // The receiver still fails, so the wait doubles, as after any failed probe.
    breaker.note({ succeeded: false, startedAt: START + SECOND }, START + SECOND);
    breaker.hasten(START + 90 * SECOND);
    expect(breaker.room(0, START + 61 * SECOND - 1)).toBe(0);
    expect(breaker.room(0, START + 61 * SECOND)).toBe(1);
  });

  test('property: it always probes within ten minutes, and a success closes it', () => {
    const step = fc.record({
      succeeded: fc.boolean(),
      waitMs: fc.nat({ max: 20 * MINUTE }),
      throttledMs: fc.option(fc.nat({ max: 3_600_000 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const breaker = createBreaker();
        let now = START;
        for (const { waitMs, ...result } of steps) {
          now += waitMs;
          breaker.note({ ...result, startedAt: now }, now);
          expect(breaker.room(0, now + 10 * MINUTE)).toBeGreaterThan(0);
        }
        now += 10 * MINUTE;
        breaker.note({ succeeded: true, startedAt: now }, now);
        expect(breaker.room(0, now)).toBe(Number.POSITIVE_INFINITY);
      }),
    );
  });
});
