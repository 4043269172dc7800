import type { DeliveryState, DeliverySummary } from '@sluice/kit/sluice';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toActivity } from './activity.ts';

const NOW = 1_764_500_085_000;

/** A delivery that was created this many milliseconds before now. */
const delivery = (ageMs: number, state: DeliveryState = 'succeeded'): DeliverySummary =>
  ({
    id: `${(NOW - ageMs)
      .toString(16)
      .padStart(12, '0')
      .replace(/(.{8})/, '$1-')}-7000-8000-000000000000`,
    state,
  }) as DeliverySummary;

test('counts deliveries and failures in bars that end now', () => {
  const activity = toActivity(
    [delivery(0), delivery(30_000, 'failed'), delivery(30 * 60_000, 'retrying')],
    NOW,
  );
  expect(activity.stepMs).toBe(60_000);
  expect(activity.bars).toHaveLength(60);
  expect(activity.bars.at(-1)).toMatchObject({ count: 2, failed: 1 });
  expect(activity.bars.at(-1)!.from + activity.stepMs).toBeGreaterThan(NOW);
  expect(activity.bars.filter(({ count }) => count > 0)).toHaveLength(2);
});

test('an address without deliveries has empty bars', () => {
  expect(toActivity([], NOW).bars.every(({ count }) => count === 0)).toBe(true);
});

test('property: each delivery of the last 60 days is in one bar', () => {
  const ages = fc.array(fc.nat({ max: 59 * 86_400_000 }), { maxLength: 50 });
  fc.assert(
    fc.property(ages, (list) => {
      const sorted = list.toSorted((a, b) => a - b).map((ageMs) => delivery(ageMs));
      const { bars, stepMs } = toActivity(sorted, NOW);
      expect(bars.reduce((sum, { count }) => sum + count, 0)).toBe(list.length);
      expect(bars.length).toBeLessThanOrEqual(60);
      for (const [index, { from }] of bars.slice(1).entries())
        expect(from - stepMs).toBe(bars[index]?.from);
    }),
  );
});
