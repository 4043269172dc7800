import { expect, test } from 'vitest';
import { MAX_MARKS, markRange, toggleMark } from './marks.ts';

const idAt = (index: number): string => String(9_999 - index);
/** Newest first, as lists are. */
const ROWS = Array.from({ length: 600 }, (_, index) => ({ id: idAt(index) }));

test('a mark is set and taken back, and leaves the set before as it was', () => {
  const none: ReadonlySet<string> = new Set();
  const one = toggleMark(none, idAt(3));
  expect([...one]).toEqual([idAt(3)]);
  expect([...toggleMark(one, idAt(3))]).toEqual([]);
  expect(none.size).toBe(0);
});

test('a range is marked in either direction, with its ends', () => {
  const between = [idAt(2), idAt(3), idAt(4)];
  expect([...markRange(new Set(), ROWS, idAt(2), idAt(4))]).toEqual(between);
  expect([...markRange(new Set([idAt(9)]), ROWS, idAt(4), idAt(2))]).toEqual([idAt(9), ...between]);
});

test('a range from a row that has left the list is its other end', () => {
  expect([...markRange(new Set(), ROWS, 'gone', idAt(4))]).toEqual([idAt(4)]);
  expect([...markRange(new Set(), ROWS, 'gone', 'gone too')]).toEqual([]);
});

test('no more are marked than the service takes', () => {
  const most = markRange(new Set(), ROWS, idAt(0), idAt(599));
  expect(most.size).toBe(MAX_MARKS);
  expect(toggleMark(most, idAt(599)).has(idAt(599))).toBe(false);
  expect(toggleMark(most, idAt(0)).size).toBe(MAX_MARKS - 1);
});
