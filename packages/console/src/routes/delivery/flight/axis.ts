/**
 * Lays out a flight on one axis. Its parts take from less than a millisecond to days, so each has a
 * scale of its own: a part is as wide as the logarithm of its duration. Thus 3 ms of DNS stay
 * visible next to a wait of 12 hours, and a longer part is never narrower than a shorter one. Within
 * a part, time is linear. A part whose scale is much coarser than the finest has a break mark.
 */

/** A part in time, in Unix milliseconds; both are null for a step without a stored time. */
export type Interval = { from: number; to: number } | { from: null; to: null };

/** Place of a part, in shares of the axis. */
export interface Place {
  left: number;
  width: number;
  /** Whether the axis is compressed so much that the part has a break mark. */
  isBroken: boolean;
}

/** Shortest drawn part, in milliseconds, so that parts that took no time are visible. */
const SHORTEST_MS = 0.5;
/** Width of a step without a time: that of a part of 15 ms. */
const UNTIMED = 4;
/** How much coarser than the finest scale the scale of a part is from which it is broken. */
const BREAK_FACTOR = 1_000;

const lengthOf = ({ from, to }: Interval): number | null =>
  from === null ? null : Math.max(SHORTEST_MS, to - from);

const weightOf = (ms: number | null): number => (ms === null ? UNTIMED : Math.log2(1 + ms));

/** Places consecutive parts next to each other, from 0 to 1. */
export function layOut(parts: readonly Interval[]): Place[] {
  const lengths = parts.map(lengthOf);
  const scales = lengths.map((ms) => (ms === null ? null : ms / weightOf(ms)));
  const finest = Math.min(...scales.filter((scale) => scale !== null));
  const total = lengths.reduce<number>((sum, ms) => sum + weightOf(ms), 0);
  let before = 0;
  return lengths.map((ms, index) => {
    const left = before / total;
    before += weightOf(ms);
    return {
      left,
      width: weightOf(ms) / total,
      isBroken: (scales[index] ?? 0) > finest * BREAK_FACTOR,
    };
  });
}

/** Returns the place of a time on the axis, from 0 to 1. Times outside the parts are at its ends. */
export function placeOf(
  timeMs: number,
  parts: readonly Interval[],
  places: readonly Place[],
): number {
  let place = 0;
  for (const [index, part] of parts.entries()) {
    const { left, width } = places[index]!;
    if (part.from === null) continue;
    if (timeMs < part.from) return place;
    const length = part.to - part.from;
    const share = length === 0 ? 1 : Math.min(1, (timeMs - part.from) / length);
    place = left + share * width;
  }
  return place;
}

/** Returns the index of the part at a place of the axis, from 0 to 1. */
export const partAt = (place: number, places: readonly Place[]): number =>
  Math.max(
    0,
    places.findLastIndex(({ left }) => left <= place),
  );
