import { expect, test } from 'vitest';
import { formatGrowth, formatShift } from './points.ts';

test.each([
  [112, 100, '+12 %'],
  [50, 100, '−50 %'],
  [0, 100, '−100 %'],
  [1_001, 1_000, '+1 %'],
  [999, 100, '+899 %'],
  [5_000, 1, '×5,000'],
  [100, 100, ''],
  [100, 0, ''],
])('%i after %i is a change of %s', (now, before, words) => {
  expect(formatGrowth(now, before)).toBe(words);
});

test.each([
  [91.79, 100, '−8.21 points'],
  [100, 99.5, '+0.5 points'],
  [100, 100, ''],
  [99.999, 100, ''],
  [null, 100, ''],
  [100, null, ''],
])('%s % after %s % is a change of %s', (now, before, words) => {
  expect(formatShift(now, before)).toBe(words);
});
