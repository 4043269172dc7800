import type { CloseMatch } from '../contract/shapes.generated.ts';
import { expect, test } from 'vitest';
import { mergeCloseMatches } from './closeMatches.ts';

const closeMatches = (changes: Partial<CloseMatch>): CloseMatch => ({
  event: 'Transfer(address,address,uint256)',
  name: 'value',
  operator: 'gte',
  filterValue: '1000',
  count: 1,
  min: '900',
  max: '950',
  ...changes,
});

test('close matches of one rule are merged across blocks, the most frequent first', () => {
  const first = mergeCloseMatches([], [closeMatches({}), closeMatches({ name: 'fee', count: 2 })]);
  const all = mergeCloseMatches(first, [closeMatches({ count: 4, min: '99', max: '101' })]);
  expect(all).toEqual([
    closeMatches({ count: 5, min: '99', max: '950' }),
    closeMatches({ name: 'fee', count: 2 }),
  ]);
});

test('values are compared as integers of any size', () => {
  const huge = String(2n ** 200n);
  expect(
    mergeCloseMatches([closeMatches({ min: '-5' })], [closeMatches({ min: '-30', max: huge })]),
  ).toEqual([closeMatches({ count: 2, min: '-30', max: huge })]);
});
