import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRowSlots } from './rowSlots.ts';

const windows = fc.array(
  fc.uniqueArray(
    fc.integer({ min: 0, max: 40 }).map((id) => `row ${id}`),
    { maxLength: 12 },
  ),
  { minLength: 1 },
);

test('each row keeps its own slot while it is on screen', () => {
  fc.assert(
    fc.property(windows, (shown) => {
      const slots = createRowSlots();
      let before: ReadonlyMap<string, number> = new Map();
      for (const ids of shown) {
        const now = slots.place(ids);
        expect([...now.keys()]).toEqual(ids);
        expect(new Set(now.values()).size).toBe(ids.length);
        for (const id of ids) {
          const was = before.get(id);
          if (was !== undefined) expect(now.get(id)).toBe(was);
        }
        expect(slots.place(ids)).toEqual(now);
        before = now;
      }
    }),
  );
});

test('new rows reuse free slots before any is created', () => {
  fc.assert(
    fc.property(windows, (shown) => {
      const slots = createRowSlots();
      let before: number[] = [];
      for (const ids of shown) {
        const now = [...slots.place(ids).values()];
        const kept = now.filter((slot) => before.includes(slot));
        expect(kept).toHaveLength(Math.min(before.length, now.length));
        before = now;
      }
    }),
  );
});

test('if all rows change, no element moves', () => {
  const slots = createRowSlots();
  slots.place(['a', 'b', 'c', 'd']);
  const [, ...scrolled] = slots.place(['b', 'c', 'd', 'e']).values();
  expect(scrolled).toEqual([2, 3, 0]);
  expect([...slots.place(['w', 'x', 'y', 'z']).values()]).toEqual([1, 2, 3, 0]);
});
