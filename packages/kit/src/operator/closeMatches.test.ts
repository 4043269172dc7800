import type { CloseMatch } from '../contract/shapes.generated.ts';
import { expect, test } from 'vitest';
import { mergeCloseMatches, nameOfCloseMatch } from './closeMatches.ts';

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

test('an event and a function of the same signature are different rules', () => {
  const { event: _, ...rule } = closeMatches({});
  const called = { ...rule, function: 'Transfer(address,address,uint256)' };
  expect(mergeCloseMatches([closeMatches({})], [called])).toEqual([closeMatches({}), called]);
});

test('close matches are named by event or function, without parameters', () => {
  expect(nameOfCloseMatch(closeMatches({}))).toBe('Transfer');
  const { event: _, ...rule } = closeMatches({});
  expect(
    ['pay(uint256)', '*', '0xa9059cbb'].map((called) =>
      nameOfCloseMatch({ ...rule, function: called }),
    ),
  ).toEqual(['pay', '*', '0xa9059cbb']);
});

test('values are compared as integers of any size', () => {
  const huge = String(2n ** 200n);
  expect(
    mergeCloseMatches([closeMatches({ min: '-5' })], [closeMatches({ min: '-30', max: huge })]),
  ).toEqual([closeMatches({ count: 2, min: '-30', max: huge })]);
});
