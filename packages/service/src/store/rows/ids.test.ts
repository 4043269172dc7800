import { afterAll, expect, test, vi } from 'vitest';
import { continueIdsAfter, newId } from './ids.ts';

// The ids of this process stay in the year 2100, and later files share its modules.
afterAll(() => {
  vi.resetModules();
});

test('ids are version 7 UUIDs of their time', () => {
  const id = newId(Date.UTC(2100, 0, 1));
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(Date.UTC(2100, 0, 1));
});

test('ids sort by creation, even many per millisecond or when the clock goes back', () => {
  const start = Date.UTC(2100, 0, 2);
  const ids = Array.from({ length: 20_000 }, (_, n) => newId(start - (n % 7)));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test('ids sort after an id that another process created with a clock that was ahead', () => {
  const start = Date.UTC(2100, 0, 3);
  const before = newId(start);
  const ahead = newId(start + 60_000).replace(/-7...-(?=[89ab])/, '-7fff-');
  continueIdsAfter(ahead);
  const ids = [before, ahead, newId(start), newId(start + 1)];
  expect(ids.toSorted()).toEqual(ids);
  const last = ids.at(-1)!;
  continueIdsAfter(before);
  expect(newId(start) > last).toBe(true);
});
