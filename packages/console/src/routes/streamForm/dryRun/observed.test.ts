import type { ObservedEvent, ObservedMovePath } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import {
  emptyObserved,
  rowsOf,
  settleObserved,
  withObserved,
  type Observed,
  type ObservedEntry,
} from './observed.ts';

const event = (topic0: string, count: number, indexed = 2): ObservedEvent => ({
  topic0,
  signature: null,
  indexed,
  count,
});
const path = (kind: ObservedMovePath['kind'], count: number): ObservedMovePath => ({
  kind,
  path: '0x1::coin::transfer',
  count,
});
/** Returns the observations of blocks with these entries, starting at block 1. */
const observedOf = (...blocks: ObservedEntry[][]): Observed =>
  blocks.reduce(
    (observed, found, n) => withObserved(observed, 'here', n + 1, found),
    emptyObserved('here'),
  );
const orderOf = (observed: Observed) => rowsOf(observed).map(({ key, count }) => `${key} ${count}`);

test('counts add up; a block that runs again counts once', () => {
  const observed = observedOf([event('a', 2)], [event('a', 1), event('b', 1)]);
  expect(orderOf(observed)).toEqual(['a 3', 'b 1']);
  expect(orderOf(withObserved(observed, 'here', 2, [event('b', 4)]))).toEqual(['a 2', 'b 4']);
});

test('other addresses reset the counts', () => {
  expect(
    orderOf(withObserved(observedOf([event('a', 2)]), 'elsewhere', 9, [event('b', 1)])),
  ).toEqual(['b 1']);
});

test('the order changes only at the end of the first run, and when more blocks are requested', () => {
  const first = observedOf([event('a', 1)], [event('b', 3)]);
  expect(orderOf(first)).toEqual(['a 1', 'b 3']);
  const settled = settleObserved(first, { again: false });
  expect(orderOf(settled)).toEqual(['b 3', 'a 1']);
  const again = withObserved(settled, 'here', 3, [event('a', 9), event('c', 20)]);
  expect(orderOf(again)).toEqual(['b 3', 'a 10', 'c 20']);
  expect(orderOf(settleObserved(again, { again: false }))).toEqual(['b 3', 'a 10', 'c 20']);
  expect(orderOf(settleObserved(again, { again: true }))).toEqual(['c 20', 'a 10', 'b 3']);
});

test('an event is one row, whatever is indexed; a function and an event with one path are two', () => {
  expect(rowsOf(observedOf([event('a', 2), event('a', 1, 3)]))).toEqual([
    { key: 'a', count: 3, entries: [event('a', 2), event('a', 1, 3)] },
  ]);
  expect(
    orderOf(observedOf([path('function', 2)], [path('event', 1), path('function', 1)])),
  ).toEqual(['function 0x1::coin::transfer 3', 'event 0x1::coin::transfer 1']);
});
