/** The cursor of a heat map, and the part that the user selects by dragging or with the keyboard. */
import { FAILURES, type HeatCell, type HeatMap, type HeatRange } from './heatMap.ts';

export interface HeatCursor {
  cell: HeatCell | null;
  /** Where the part starts that the user is selecting; null otherwise. */
  anchor: HeatCell | null;
}

export const NO_CURSOR: HeatCursor = { cell: null, anchor: null };

export type HeatInput =
  | { type: 'hover' | 'press'; cell: HeatCell }
  /** Moves by columns and rows; `extends` selects from the old to the new position. */
  | { type: 'step'; columns: number; rows: number; extends: boolean }
  | { type: 'clear' };

const clamp = (value: number, least: number, most: number): number =>
  Math.max(least, Math.min(most, value));

/**
 * Returns the rows that a selection from this row may reach: a failure keeps its result, and
 * successes have no failures.
 */
const reachOf = ({ rows }: HeatMap, row: number): [number, number] =>
  row < FAILURES.length ? [row, row] : [FAILURES.length, rows.length - 1];

export function moveCursor(cursor: HeatCursor, input: HeatInput, map: HeatMap): HeatCursor {
  switch (input.type) {
    case 'clear':
      return NO_CURSOR;
    case 'press':
      return { cell: input.cell, anchor: input.cell };
    case 'hover': {
      if (cursor.anchor === null) return { cell: input.cell, anchor: null };
      const [first, last] = reachOf(map, cursor.anchor.row);
      return { ...cursor, cell: { ...input.cell, row: clamp(input.cell.row, first, last) } };
    }
    case 'step': {
      // Without a cursor, the first key shows the newest column and the fastest row with attempts.
      const from = cursor.cell ?? {
        column: map.columns - 1,
        row: Math.max(
          0,
          map.rows.findLastIndex(({ counts }) => counts.some((n) => n > 0)),
        ),
      };
      const anchor = input.extends ? (cursor.anchor ?? from) : null;
      const [first, last] = anchor === null ? [0, map.rows.length - 1] : reachOf(map, anchor.row);
      const moves = cursor.cell === null && !input.extends ? { columns: 0, rows: 0 } : input;
      return {
        anchor,
        cell: {
          column: clamp(from.column + moves.columns, 0, map.columns - 1),
          row: clamp(from.row + moves.rows, first, last),
        },
      };
    }
  }
}

/** Returns the selected part, or the cell under the cursor; undefined without a cursor. */
export function rangeOf({ cell, anchor }: HeatCursor): HeatRange | undefined {
  if (cell === null) return undefined;
  const start = anchor ?? cell;
  const between = (a: number, b: number) => [Math.min(a, b), Math.max(a, b)] as const;
  return { columns: between(start.column, cell.column), rows: between(start.row, cell.row) };
}
