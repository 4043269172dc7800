import { expect, test } from 'vitest';
import { areaPath, indexAt, linePath, roundTop, yOf } from './chart.ts';

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

test('a line begins anew after what is not known', () => {
  expect(linePath(scale, [0, 10, null, 5, null])).toBe('M0.0 10.0L25.0 0.0M75.0 5.0h0.1');
  expect(linePath(scale, [null, null])).toBe('');
});

test('an area stands on zero', () => {
  expect(areaPath(scale, [null, 10, 5, null, null])).toBe('M25.0 10L25.0 0.0L50.0 5.0L50.0 10Z');
});

test('nothing leaves the frame', () => {
  expect(yOf(scale, 1e9)).toBe(0);
  expect(indexAt(288, -1)).toBe(0);
  expect(indexAt(288, 2)).toBe(287);
  expect(indexAt(3, 0.5)).toBe(1);
});
