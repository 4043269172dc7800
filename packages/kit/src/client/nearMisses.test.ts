import type { NearMiss } from '../contract/shapes.generated.ts';
import { expect, test } from 'vitest';
import { mergeNearMisses } from './nearMisses.ts';

const near = (changes: Partial<NearMiss>): NearMiss => ({
  event: 'Transfer(address,address,uint256)',
  name: 'value',
  operator: 'gte',
  wanted: '1000',
  count: 1,
  min: '900',
  max: '950',
  ...changes,
});

test('the same rule of two blocks is one, with the range of both; the most frequent comes first', () => {
  const first = mergeNearMisses([], [near({}), near({ name: 'fee', count: 2 })]);
  const all = mergeNearMisses(first, [near({ count: 4, min: '99', max: '101' })]);
  expect(all).toEqual([near({ count: 5, min: '99', max: '950' }), near({ name: 'fee', count: 2 })]);
});

test('values are compared as numbers of any size', () => {
  const huge = String(2n ** 200n);
  expect(mergeNearMisses([near({ min: '-5' })], [near({ min: '-30', max: huge })])).toEqual([
    near({ count: 2, min: '-30', max: huge }),
  ]);
});
