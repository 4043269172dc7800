import { expect, test } from 'vitest';
import type { ObservedEvent, ObservedMovePath } from '../contract/shapes.generated.ts';
import { mergeObserved } from './observed.ts';

const observed = (topic0: string, count: number, indexed = 2): ObservedEvent => ({
  topic0,
  signature: null,
  indexed,
  count,
});

test('events are merged across blocks, the most frequent first', () => {
  const first = mergeObserved([], [observed('0xa', 3), observed('0xb', 1)]);
  expect(mergeObserved(first, [observed('0xb', 5), observed('0xc', 4)])).toEqual([
    observed('0xb', 6),
    observed('0xc', 4),
    observed('0xa', 3),
  ]);
});

test('events with the same topic but different indexed inputs are separate', () => {
  expect(mergeObserved([observed('0xa', 3)], [observed('0xa', 1, 3)])).toEqual([
    observed('0xa', 3),
    observed('0xa', 1, 3),
  ]);
});

test('a function and an event with the same path are separate', () => {
  const path = (kind: ObservedMovePath['kind'], count: number): ObservedMovePath => ({
    kind,
    path: '0x1::coin::transfer',
    count,
  });
  expect(mergeObserved([path('function', 2), path('event', 1)], [path('event', 4)])).toEqual([
    path('event', 5),
    path('function', 2),
  ]);
});
