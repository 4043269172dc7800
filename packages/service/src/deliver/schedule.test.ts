import fc from 'fast-check';
import { CONTRACT_SCHEDULE_MS } from '@sluice/kit/contract';
import { expect, test } from 'vitest';
import { longestWaitMs, nextWaitMs, remainingWaitsMs } from './schedule.ts';

test('there are seven retries per the contract, then none', () => {
  const minutes = Array.from({ length: 8 }, (_, n) =>
    nextWaitMs(CONTRACT_SCHEDULE_MS, n + 1, 0),
  ).map((wait) => wait && wait / 60_000);
  expect(minutes).toEqual([1, 10, 60, 120, 360, 720, 1440, undefined]);
});

test('property: no wait is shorter than planned, and none longer by more than a tenth', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 7 }),
      fc.double({ min: 0, max: 0.9999, noNaN: true }),
      (attempts, random) => {
        const planned = CONTRACT_SCHEDULE_MS[attempts - 1]!;
        const wait = nextWaitMs(CONTRACT_SCHEDULE_MS, attempts, random)!;
        expect(wait).toBeGreaterThanOrEqual(planned);
        expect(wait).toBeLessThanOrEqual(planned * 1.1 + 1);
      },
    ),
  );
});

test('the rest of the schedule lists the waits of later attempts', () => {
  const schedule = [1, 2, 3];
  for (const fastRetried of [false, true]) {
    for (let attempts = fastRetried ? 1 : 0; attempts <= 4; attempts++) {
      const waits: number[] = [];
      for (let failed = attempts + 1; ; failed++) {
        const wait = nextWaitMs(schedule, failed - (fastRetried ? 1 : 0), 0);
        if (wait === undefined) break;
        waits.push(wait);
      }
      expect(remainingWaitsMs(schedule, attempts, fastRetried)).toEqual(waits);
    }
  }
});

test('property: the waits of a schedule add up to at most the longest wait', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1_000, max: 10 ** 9 })), (schedule) => {
      const waits = schedule.map((_, n) => nextWaitMs(schedule, n + 1, 0.9999)!);
      const total = waits.reduce((sum, wait) => sum + wait, 0);
      expect(total).toBeLessThanOrEqual(longestWaitMs(schedule) + schedule.length);
      expect(total).toBeGreaterThan(longestWaitMs(schedule) * 0.999 - 1);
    }),
  );
});
