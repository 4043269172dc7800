import { expect, test } from 'vitest';
import fc from 'fast-check';
import {
  areaPath,
  axisOf,
  betweenPath,
  indexAt,
  lastValue,
  linePath,
  PERCENT_AXIS,
  roundTop,
  splitLast,
  spreadLabels,
  yOf,
} from './chart.ts';

const scale = { width: 100, height: 10, top: 10, count: 5 };

test.each([
  [0, 1],
  [1, 1],
  [3, 5],
  [51, 100],
  [1204, 2000],
  [0.3, 1],
])('the axis of %d ends at %d', (value, top) => {
  expect(roundTop(value)).toBe(top);
});

test('a line is interrupted by missing values', () => {
  expect(linePath(scale, [0, 10, null, 5, null])).toBe('M0.0 10.0L25.0 0.0M75.0 5.0h0.1');
  expect(linePath(scale, [null, null])).toBe('');
});

test('an area starts at zero', () => {
  expect(areaPath(scale, [null, 10, 5, null, null])).toBe('M25.0 10L25.0 0.0L50.0 5.0L50.0 10Z');
});

test('all points are inside the frame', () => {
  expect(yOf(scale, 1e9)).toBe(0);
  expect(indexAt(288, -1)).toBe(0);
  expect(indexAt(288, 2)).toBe(287);
  expect(indexAt(3, 0.5)).toBe(1);
});

const percent = { width: 100, height: 96, count: 5, ...PERCENT_AXIS };

test('the top tenth of shares takes three quarters of the height', () => {
  expect([100, 95, 90, 45, 0].map((value) => yOf(percent, value))).toEqual([0, 36, 72, 84, 96]);
});

test('a higher value is never drawn lower, on either side of the break', () => {
  const value = fc.double({ min: 0, max: 100, noNaN: true });
  fc.assert(
    fc.property(value, value, (a, b) => {
      const [less, more] = [Math.min(a, b), Math.max(a, b)];
      const folded = { ...scale, top: 100, fold: { value: 5, at: 0.2 } };
      for (const each of [percent, folded, { ...scale, top: 100 }]) {
        expect(yOf(each, less)).toBeGreaterThanOrEqual(yOf(each, more));
        expect(yOf(each, more)).toBeGreaterThanOrEqual(0);
        expect(yOf(each, less)).toBeLessThanOrEqual(each.height);
      }
      // Even a difference of 0.01 percentage points is visible.
      if (more - less >= 0.01) expect(yOf(percent, less)).toBeGreaterThan(yOf(percent, more));
    }),
  );
});

test('a line is labeled at its end', () => {
  expect(lastValue([1, 3, null])).toBe(3);
  expect(lastValue([null])).toBeNull();
});

test('labels keep their distance and order inside the chart', () => {
  expect(spreadLabels([96, 10], 96, 15)).toEqual([96, 10]);
  expect(spreadLabels([96, 96, 95], 96, 15)).toEqual([81, 96, 66]);
  const heights = fc.array(fc.integer({ min: 0, max: 96 }), { maxLength: 6 });
  fc.assert(
    fc.property(heights, (given) => {
      const places = spreadLabels(given, 96, 15);
      const sorted = places.toSorted((a, b) => a - b);
      for (const [index, place] of sorted.entries()) {
        expect(place).toBeGreaterThanOrEqual(0);
        expect(place).toBeLessThanOrEqual(96);
        if (index > 0) expect(place - sorted[index - 1]!).toBeGreaterThanOrEqual(15);
      }
      for (const [a, height] of given.entries()) {
        for (const [b, other] of given.entries()) {
          if (height < other) expect(places[a]).toBeLessThan(places[b] ?? 0);
        }
      }
    }),
  );
});

test('an outlier is drawn beyond an axis break, and the other values keep their height', () => {
  const ordinary = Array.from({ length: 60 }, (_, index) => 10 + (index % 5));
  expect(axisOf(ordinary)).toEqual({ top: 20 });
  expect(axisOf([...ordinary, 5_000])).toEqual({ top: 5_000, fold: { value: 20, at: 0.2 } });
  expect(axisOf([...ordinary, 57])).toEqual({ top: 100, fold: { value: 20, at: 0.2 } });
  expect(axisOf([...ordinary, 56])).toEqual({ top: 100 });
  // Several high values are a lasting outage rather than outliers.
  expect(axisOf([...ordinary, 5_000, 5_000, 5_000])).toEqual({ top: 5_000 });
  expect(axisOf([1, 1, 1, 5_000])).toEqual({ top: 5_000 });
  expect(axisOf([])).toEqual({ top: 1 });
});

test('an incomplete value has a line of its own', () => {
  expect(splitLast([1, 2, 3])).toEqual({ complete: [1, 2, null], last: [null, 2, 3] });
  expect(splitLast([3])).toEqual({ complete: [null], last: [3] });
});

test('the area between two lines has gaps where either has none', () => {
  const scale = { width: 30, height: 10, top: 10, count: 4 };
  expect(betweenPath(scale, [0, 5, null, 1], [10, 5, 5, null])).toBe(
    'M0.0 10.0L10.0 5.0L10.0 5.0L0.0 0.0Z',
  );
  expect(betweenPath(scale, [null, null, null, null], [1, 1, 1, 1])).toBe('');
});
