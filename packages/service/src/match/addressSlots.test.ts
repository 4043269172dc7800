import fc from 'fast-check';
import { expect, test } from 'vitest';
import { copySlots, findSlot, freeSlot, hashWords } from './addressSlots.ts';

const WORDS = 2;
const CAPACITY = 8;
const newTable = (capacity: number): Uint32Array => new Uint32Array(capacity * (WORDS + 1));
/** Keys share words, so that no word alone identifies a key. */
const keyOf = (n: number): Uint32Array => Uint32Array.of(Math.floor(n / 5), n % 5);

function slotOf(table: Uint32Array, n: number): number {
  const key = keyOf(n);
  return findSlot(table, key, hashWords(key, 0, WORDS));
}

const ownersIn = (table: Uint32Array, keys: readonly number[]): number[] =>
  keys.map((n) => table[slotOf(table, n) + WORDS]!);

test('property: an almost full table and its copy equal a map after any additions and removals', () => {
  const keys = Array.from({ length: 24 }, (_, n) => n);
  const step = fc.record({ key: fc.constantFrom(...keys), owner: fc.integer({ min: 1, max: 9 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const table = newTable(CAPACITY);
      const naive = new Map<number, number>();
      for (const { key, owner } of steps) {
        const at = slotOf(table, key);
        if (naive.delete(key)) freeSlot(table, at, WORDS);
        else if (naive.size < CAPACITY - 1) {
          table.set([...keyOf(key), owner], at);
          naive.set(key, owner);
        }
        const owners = keys.map((n) => naive.get(n) ?? 0);
        expect(ownersIn(table, keys)).toEqual(owners);
      }
      const larger = newTable(CAPACITY + 3);
      copySlots(table, larger, WORDS);
      expect(ownersIn(larger, keys)).toEqual(ownersIn(table, keys));
    }),
  );
});
