import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPacer } from './pacer.ts';
import { placeOf } from './rateLimits.ts';

describe('turns', () => {
  test('are granted in a burst, then at the rate', () => {
    const pacer = createPacer({ perSecond: 10, burst: 3 });
    const at = (now: number): boolean => pacer.take('a', now).isGranted;
    expect([at(0), at(0), at(0), at(0)]).toEqual([true, true, true, false]);
    expect([at(60), at(110), at(170)]).toEqual([true, false, true]);
    expect(pacer.take('b', 170).isGranted).toBe(true);
    expect([at(1_000), at(1_000), at(1_000), at(1_000)]).toEqual([true, true, true, false]);
  });

  test('property: in any period never exceed burst and rate, and are granted after the reported wait', () => {
    const calls = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 200 });
    const pace = fc.record({
      perSecond: fc.integer({ min: 1, max: 50 }),
      burst: fc.integer({ min: 1, max: 20 }),
    });
    fc.assert(
      fc.property(pace, calls, ({ perSecond, burst }, gaps) => {
        const pacer = createPacer({ perSecond, burst });
        const granted: number[] = [];
        let now = 0;
        for (const gap of gaps) {
          now += gap;
          const may = pacer.mayTake('a', now);
          const turn = pacer.take('a', now);
          expect(turn.isGranted).toBe(may);
          expect(turn.left).toBeGreaterThanOrEqual(0);
          expect(turn.left).toBeLessThan(burst);
          if (turn.isGranted) granted.push(now);
          else expect(turn.retryAfterSeconds).toBeGreaterThanOrEqual(1);
          // A caller that waits for the reported time gets the next turn.
          expect(pacer.mayTake('a', now + turn.retryAfterSeconds * 1000)).toBe(true);
        }
        for (const [n, from] of granted.entries()) {
          for (const [m, to] of granted.entries()) {
            if (m < n) continue;
            expect(m - n + 1).toBeLessThanOrEqual(burst + ((to - from) * perSecond) / 1000 + 0.5);
          }
        }
      }),
      // The third call comes at the last moment before a turn is available.
      { examples: [[{ perSecond: 10, burst: 1 }, [0, 54, 96]]] },
    );
  });

  test('use bounded memory for any number of callers, and forget idle ones first', () => {
    const pacer = createPacer({ perSecond: 1, burst: 1 }, 100);
    pacer.take('first', 0);
    for (let n = 0; n < 99; n++) pacer.take(`taker ${n}`, 0);
    expect(pacer.take('first', 0).isGranted).toBe(false);
    for (let n = 99; n < 198; n++) pacer.take(`taker ${n}`, 0);
    expect(pacer.mayTake('first', 0)).toBe(false);
    expect(pacer.mayTake('taker 0', 0)).toBe(true);
  });
});

test('addresses of one IPv6 network share a limit', () => {
  const hextet = fc.integer({ min: 1, max: 0xffff }).map((n) => n.toString(16));
  const half = fc.tuple(hextet, hextet, hextet, hextet);
  fc.assert(
    fc.property(half, half, half, (network, one, other) => {
      const [a, b] = [one, other].map((host) => [...network, ...host].join(':'));
      expect(placeOf(a!)).toBe(placeOf(b!));
      expect(placeOf([...one, ...network].join(':')) === placeOf(a!)).toBe(
        one.join() === network.join(),
      );
    }),
  );
  expect(placeOf('2001:db8::1')).toBe(placeOf('2001:db8:0:0:1::'));
  expect(placeOf('2001:db8::1')).not.toBe(placeOf('2001:db8:0:1::1'));
  expect(placeOf('::1')).toBe('0:0:0:0');
  expect(placeOf('10.0.0.1')).toBe('10.0.0.1');
});
