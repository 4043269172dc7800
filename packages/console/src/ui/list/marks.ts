/** Rows that somebody has marked, to do one thing with all of them. Pure. */

/** As many as the service takes by their ids at once. */
export const MAX_MARKS = 500;

type Row = { id: string };
type Marks = ReadonlySet<string>;

export function toggleMark(marks: Marks, id: string): Marks {
  const next = new Set(marks);
  if (!next.delete(id) && next.size < MAX_MARKS) next.add(id);
  return next;
}

/** The rows between these two, both included, beside those that are marked; none past the most. */
export function markRange(marks: Marks, rows: readonly Row[], from: string, to: string): Marks {
  // One may have left the list since.
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
