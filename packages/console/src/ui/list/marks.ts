/** Selects rows that an action applies to. */

/** Maximum number of selected rows, which is the maximum number of ids per request. */
export const MAX_MARKS = 500;

type Row = { id: string };
type Marks = ReadonlySet<string>;

export function toggleMark(marks: Marks, id: string): Marks {
  const next = new Set(marks);
  if (!next.delete(id) && next.size < MAX_MARKS) next.add(id);
  return next;
}

/** Adds the rows between two rows, inclusive, to the selection, up to the limit. */
export function markRange(marks: Marks, rows: readonly Row[], from: string, to: string): Marks {
  // The row at either end may have left the list in the meantime.
  const places = [from, to]
    .map((end) => rows.findIndex(({ id }) => id === end))
    .filter((place) => place >= 0);
  const next = new Set(marks);
  for (const { id } of rows.slice(Math.min(...places), Math.max(...places) + 1)) {
    if (next.size >= MAX_MARKS) break;
    next.add(id);
  }
  return next;
}
