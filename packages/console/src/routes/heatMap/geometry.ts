/** Converts between the pixels of a heat map and its cells. */
import { FAILURES, type HeatCell, type HeatMap, type HeatRange, type HeatRow } from './heatMap.ts';

/** Height in pixels of a row of failures, and the space below the last one. */
export const FAILURE_ROW = 12;
const GAP = 7;
const TIMES_TOP = FAILURES.length * FAILURE_ROW + GAP;
const TIMES_HEIGHT = 168;
export const HEAT_HEIGHT = TIMES_TOP + TIMES_HEIGHT;

/** Ends of the logarithmic axis of response times, in milliseconds. */
const LEAST_MS = 0.5;
const MOST_MS = 30_000;
/** Labels of the axis, in milliseconds. */
export const TICKS_MS = [1, 10, 100, 1_000, 10_000];

export const yOfMs = (ms: number): number =>
  TIMES_TOP + TIMES_HEIGHT * (1 - Math.log(ms / LEAST_MS) / Math.log(MOST_MS / LEAST_MS));

/** Returns the top edge and the height of rows. */
export function rowSpan(
  { rows }: HeatMap,
  [first, last]: HeatRange['rows'],
): { y: number; height: number } {
  const y = topOf(rows[first], first);
  return { y, height: topOf(rows[last + 1], last + 1) - y };
}

/** Returns the top edge of a row, or the lower edge of the map. */
function topOf(row: HeatRow | undefined, index: number): number {
  if (row === undefined) return HEAT_HEIGHT;
  return row.result === 'succeeded' ? yOfMs(row.toMs ?? MOST_MS) : index * FAILURE_ROW;
}

export const columnWidth = ({ columns }: HeatMap, width: number): number => width / columns;

/** Returns the left edge and the width of columns. */
export const columnSpan = (
  map: HeatMap,
  [first, last]: HeatRange['columns'],
  width: number,
): { x: number; width: number } => ({
  x: first * columnWidth(map, width),
  width: (last + 1 - first) * columnWidth(map, width),
});

/** Returns the cell at a place. */
export function cellAt(map: HeatMap, x: number, y: number, width: number): HeatCell {
  const column = Math.floor(x / columnWidth(map, width));
  return {
    column: Math.max(0, Math.min(map.columns - 1, column)),
    row: Math.max(
      0,
      map.rows.findLastIndex((row, index) => topOf(row, index) <= y),
    ),
  };
}
