/** The cursor of a lane, and the range that the user selects by dragging or with the keyboard. */
import { cellAt, indexOf, type Lane, type Point } from './lane.ts';

export interface LaneCursor {
  point: Point | null;
  /** Where the range starts that the user is selecting; null otherwise. */
  anchor: number | null;
  /** The selected range, inclusive, in units of `Cell.at`; null without one. */
  range: { from: number; to: number } | null;
}

export const NO_CURSOR: LaneCursor = { point: null, anchor: null, range: null };

export type LaneInput =
  | { type: 'hover'; point: Point }
  | { type: 'press'; point: Point }
  | { type: 'release' }
  /** Moves by cells; `extends` selects the cells from the old to the new position. */
  | { type: 'step'; by: number; extends: boolean }
  /** Moves to the removed block below or above, in the same column. */
  | { type: 'row'; by: 1 | -1 }
  | { type: 'clear' };

const rangeOf = (a: number, b: number): LaneCursor['range'] =>
  a === b ? null : { from: Math.min(a, b), to: Math.max(a, b) };

export function moveCursor(cursor: LaneCursor, input: LaneInput, lane: Lane): LaneCursor {
  const { point, anchor, range } = cursor;
  const last = lane.cells.at(-1);
  if (last === undefined) return NO_CURSOR;
  switch (input.type) {
    case 'hover':
      if (anchor !== null) {
        const at = { at: input.point.at, row: 0 };
        return { ...cursor, point: at, range: rangeOf(anchor, at.at) };
      }
      // While the actions of a range are shown, the pointer moves to them.
      return range === null ? { ...cursor, point: input.point } : cursor;
    case 'press':
      return { point: input.point, anchor: input.point.at, range: null };
    case 'release':
      return { ...cursor, anchor: null };
    case 'step': {
      const from = point === null ? lane.cells.length : indexOf(lane, point.at);
      const index = Math.max(0, Math.min(lane.cells.length - 1, from + input.by));
      const at = lane.cells[index]!.at;
      const start = input.extends ? (anchor ?? point?.at ?? last.at) : null;
      return {
        point: { at, row: 0 },
        anchor: start,
        range: start === null ? null : rangeOf(start, at),
      };
    }
    case 'row': {
      if (point === null) return cursor;
      const rows = [0, ...lane.branches.map(({ row }) => row)].filter(
        (row) =>
          (row - point.row) * input.by > 0 && cellAt(lane, { at: point.at, row }) !== undefined,
      );
      const row = input.by > 0 ? Math.min(...rows) : Math.max(...rows);
      return Number.isFinite(row)
        ? { point: { at: point.at, row }, anchor: null, range: null }
        : cursor;
    }
    case 'clear':
      return NO_CURSOR;
  }
}
