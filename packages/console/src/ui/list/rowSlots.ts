/** Which of the elements of a list draws which row. */

export interface RowSlots {
  /**
   * The slots of the rows on screen, in their order. A row keeps its slot while it is there; one that
   * comes takes that of one that has left, in the order of the document, so that where all of them
   * change no element moves.
   */
  place(ids: readonly string[]): ReadonlyMap<string, number>;
}

/** An element that is drawn anew costs a third of one that is made: its styles and its boxes stay. */
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
