/** Sets of positions as sorted ranges that neither overlap nor touch. Bounds are included. */
export type Range = readonly [from: number, to: number];

/** Adds ranges to a set. */
export function addRanges(set: readonly Range[], more: readonly Range[]): Range[] {
  const merged: [number, number][] = [];
  for (const [from, to] of [...set, ...more].toSorted(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

/** Returns the parts of a range that are in none of these sorted ranges. */
export function gapsIn([from, to]: Range, taken: readonly Range[]): Range[] {
  const gaps: Range[] = [];
  let next = from;
  for (const [start, end] of taken) {
    if (start > to) break;
    if (start > next) gaps.push([next, start - 1]);
    next = Math.max(next, end + 1);
  }
  if (next <= to) gaps.push([next, to]);
  return gaps;
}

/** Returns positions as ranges. */
export const toRanges = (positions: readonly number[]): Range[] =>
  addRanges(
    [],
    positions.map((position) => [position, position]),
  );
