import { MAX_POINTS } from '@sluice/kit/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { METRICS_SPANS } from '../../../data/search.ts';
import { toMetricsRange } from './metricsRange.ts';

const NOW = Date.parse('2026-11-24T10:07:30Z');
const at = (time: string): number => Date.parse(`2026-11-${time}:00Z`);

test('a period that ends now has its own steps, and is compared with the one before', () => {
  expect(toMetricsRange({}, NOW)).toEqual({
    step: 5,
    points: 288,
    comparedUntil: at('23T10:05'),
  });
  expect(toMetricsRange({ span: 'week' }, NOW)).toEqual({
    step: 60,
    points: 168,
    comparedUntil: at('17T10:00'),
  });
});

test('a chosen period has the finest steps that are kept and distinguishable', () => {
  const until = at('24T09:59') + 59_999;
  expect(toMetricsRange({ from: at('24T09:00'), until }, NOW)).toEqual({
    step: 1,
    points: 60,
    until,
    comparedUntil: at('24T08:59'),
  });
  expect(toMetricsRange({ from: at('23T12:00'), until }, NOW)).toEqual({
    step: 5,
    points: 264,
    until,
    comparedUntil: at('23T11:55'),
  });
  const early = at('20T11:59');
  expect(toMetricsRange({ from: at('20T10:00'), until: early }, NOW)).toEqual({
    step: 60,
    points: 4,
    until: early,
    comparedUntil: at('20T07:00'),
  });
  expect(toMetricsRange({ from: at('08T10:00'), until }, NOW).comparedUntil).toBeNull();
});

test('a compared period is any number of whole steps earlier, if need be in steps of an hour', () => {
  expect(toMetricsRange({ span: 'hour', ago: 1_440 }, NOW)).toEqual({
    step: 1,
    points: 60,
    comparedUntil: at('23T10:07'),
  });
  expect(toMetricsRange({ ago: 3 }, NOW).comparedUntil).toBe(at('24T10:00'));
  expect(toMetricsRange({ ago: 10_080 }, NOW)).toEqual({
    step: 60,
    points: 24,
    comparedUntil: at('17T10:00'),
  });
  const long = { ago: 40 * 1_440 };
  expect(toMetricsRange(long, NOW)).toEqual({ step: 5, points: 288, comparedUntil: null });
});

test('every period and compared period is within the limits of the service', () => {
  const time = fc.option(fc.integer({ min: NOW - 40 * 86_400_000, max: NOW + 86_400_000 }), {
    nil: undefined,
  });
  const ago = fc.option(fc.integer({ min: 0, max: 50_000 }), { nil: undefined });
  const spans = METRICS_SPANS.map(({ value }) => value);
  fc.assert(
    fc.property(time, time, fc.constantFrom(...spans), ago, (from, until, span, minutes) => {
      const range = toMetricsRange({ from, until, span, ago: minutes }, NOW);
      const { step, points, comparedUntil } = range;
      expect(points).toBeGreaterThan(1);
      expect(points).toBeLessThanOrEqual(MAX_POINTS[step]);
      if (comparedUntil === null) return;
      const end = Math.min(until ?? NOW, NOW);
      expect(comparedUntil).toBeLessThan(end);
      expect(comparedUntil % (step * 60_000)).toBe(0);
    }),
  );
});
