import { MAX_POINTS } from '@sluice/kit/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { METRICS_SPANS } from '../../../data/search.ts';
import { toMetricsRange } from './metricsRange.ts';

const NOW = Date.parse('2026-11-24T10:07:30Z');
const at = (time: string): number => Date.parse(`2026-11-${time}:00Z`);

test('a period that ends now has its own steps', () => {
  expect(toMetricsRange({}, NOW)).toEqual({ step: 5, points: 288, hasEarlier: true });
  expect(toMetricsRange({ span: 'week' }, NOW)).toEqual({
    step: 60,
    points: 168,
    hasEarlier: true,
  });
});

test('a chosen period has the finest steps that are kept and distinguishable', () => {
  const until = at('24T09:59') + 59_999;
  expect(toMetricsRange({ from: at('24T09:00'), until }, NOW)).toEqual({
    step: 1,
    points: 60,
    until,
    hasEarlier: true,
  });
  expect(toMetricsRange({ from: at('23T12:00'), until }, NOW)).toEqual({
    step: 5,
    points: 264,
    until,
    hasEarlier: true,
  });
  const early = at('20T11:59');
  expect(toMetricsRange({ from: at('20T10:00'), until: early }, NOW)).toEqual({
    step: 60,
    points: 4,
    until: early,
    hasEarlier: true,
  });
  expect(toMetricsRange({ from: at('14T10:00'), until }, NOW).hasEarlier).toBe(false);
});

test('every period is within the limits of the service, also with its previous one', () => {
  const time = fc.option(fc.integer({ min: NOW - 40 * 86_400_000, max: NOW + 86_400_000 }), {
    nil: undefined,
  });
  const spans = METRICS_SPANS.map(({ value }) => value);
  fc.assert(
    fc.property(time, time, fc.constantFrom(...spans), (from, until, span) => {
      const { step, points, hasEarlier } = toMetricsRange({ from, until, span }, NOW);
      expect(points).toBeGreaterThan(1);
      expect(points * (hasEarlier ? 2 : 1)).toBeLessThanOrEqual(MAX_POINTS[step]);
    }),
  );
});
