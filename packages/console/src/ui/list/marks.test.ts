import { expect, test } from 'vitest';
import { MAX_MARKS, markRange, toggleMark } from './marks.ts';

const idAt = (index: number): string => String(9_999 - index);
const ROWS = Array.from({ length: 600 }, (_, index) => ({ id: idAt(index) }));

test('a row is selected and deselected without changing the previous set', () => {
  const none: ReadonlySet<string> = new Set();
  const one = toggleMark(none, idAt(3));
  expect([...one]).toEqual([idAt(3)]);
  expect([...toggleMark(one, idAt(3))]).toEqual([]);
  expect(none.size).toBe(0);
});

test('a range is selected in either direction, including its ends', () => {
  const between = [idAt(2), idAt(3), idAt(4)];
  expect([...markRange(new Set(), ROWS, idAt(2), idAt(4))]).toEqual(between);
  expect([...markRange(new Set([idAt(9)]), ROWS, idAt(4), idAt(2))]).toEqual([idAt(9), ...between]);
});

test('a range from a row that has left the list contains only the row at its other end', () => {
  expect([...markRange(new Set(), ROWS, 'gone', idAt(4))]).toEqual([idAt(4)]);
  expect([...markRange(new Set(), ROWS, 'gone', 'gone too')]).toEqual([]);
});

test('the selection is limited to what the service accepts', () => {
  const most = markRange(new Set(), ROWS, idAt(0), idAt(599));
  expect(most.size).toBe(MAX_MARKS);
  expect(toggleMark(most, idAt(599)).has(idAt(599))).toBe(false);
  expect(toggleMark(most, idAt(0)).size).toBe(MAX_MARKS - 1);
});
