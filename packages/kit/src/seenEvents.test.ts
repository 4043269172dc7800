import { expect, test } from 'vitest';
import type { SeenEvent } from './contract/blocks.ts';
import { mergeSeenEvents } from './seenEvents.ts';

const seen = (topic0: string, count: number, indexed = 2): SeenEvent => ({
  ...{ topic0, signature: null, indexed, count },
});

test('the same event of two blocks is one; the most frequent comes first', () => {
  const first = mergeSeenEvents([], [seen('0xa', 3), seen('0xb', 1)]);
  expect(mergeSeenEvents(first, [seen('0xb', 5), seen('0xc', 4)])).toEqual([
    seen('0xb', 6),
    seen('0xc', 4),
    seen('0xa', 3),
  ]);
});

test('an event of as many other inputs indexed is another, though its topic is the same', () => {
  expect(mergeSeenEvents([seen('0xa', 3)], [seen('0xa', 1, 3)])).toEqual([
    seen('0xa', 3),
    seen('0xa', 1, 3),
  ]);
});
