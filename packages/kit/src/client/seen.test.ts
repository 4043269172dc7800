import { expect, test } from 'vitest';
import type { SeenEvent, SeenMovePath } from '../contract/shapes.generated.ts';
import { mergeSeen } from './seen.ts';

const seen = (topic0: string, count: number, indexed = 2): SeenEvent => ({
  ...{ topic0, signature: null, indexed, count },
});

test('the same event of two blocks is one; the most frequent comes first', () => {
  const first = mergeSeen([], [seen('0xa', 3), seen('0xb', 1)]);
  expect(mergeSeen(first, [seen('0xb', 5), seen('0xc', 4)])).toEqual([
    seen('0xb', 6),
    seen('0xc', 4),
    seen('0xa', 3),
  ]);
});

test('an event of as many other inputs indexed is another, though its topic is the same', () => {
  expect(mergeSeen([seen('0xa', 3)], [seen('0xa', 1, 3)])).toEqual([
    seen('0xa', 3),
    seen('0xa', 1, 3),
  ]);
});

test('a function and an event of one path are two', () => {
  const path = (kind: SeenMovePath['kind'], count: number): SeenMovePath => ({
    ...{ kind, path: '0x1::coin::transfer', count },
  });
  expect(mergeSeen([path('function', 2), path('event', 1)], [path('event', 4)])).toEqual([
    path('event', 5),
    path('function', 2),
  ]);
});
