/** Converts between the pixels of a lane and its cells. */
import { cellAt, indexOf, type Lane, type Point } from './lane.ts';
import { BRANCH_ROWS } from './blockLane.ts';

/** Minimum width of a cell in pixels, including the space to the next. */
export const MIN_CELL = 3;

/** Vertical places in pixels: labels, then bars on the base line, marks, and branches. */
export const TOP = 12;
export const BASE = 44;
const FIRST_ROW = 53;
const ROW = 8;
export const LANE_HEIGHT = FIRST_ROW + (BRANCH_ROWS - 1) * ROW + 5;

export const rowY = (row: number): number => FIRST_ROW + (row - 1) * ROW;

export const cellWidth = ({ capacity }: Lane, width: number): number =>
  width / Math.max(1, capacity);

/** Returns the left edge of the cell at this index. The newest cell is at the right edge. */
export const xOf = (lane: Lane, index: number, width: number): number =>
  width - (lane.cells.length - index) * cellWidth(lane, width);

/** Returns the cell or removed block at a place; null left of the oldest cell. */
export function pointAt(lane: Lane, x: number, y: number, width: number): Point | null {
  const index = lane.cells.length - 1 - Math.floor((width - x) / cellWidth(lane, width));
  const cell = lane.cells[Math.min(index, lane.cells.length - 1)];
  if (cell === undefined) return null;
  const row = y < FIRST_ROW - ROW / 2 ? 0 : Math.round((y - FIRST_ROW) / ROW) + 1;
  const point = { at: cell.at, row };
  return cellAt(lane, point) === undefined ? { at: cell.at, row: 0 } : point;
}

/** Returns the left edge and the width in pixels of an inclusive range. */
export function spanOf(
  lane: Lane,
  { from, to }: { from: number; to: number },
  width: number,
): { x: number; width: number } {
  const clip = (x: number): number => Math.max(0, Math.min(width, x));
  const x = clip(xOf(lane, indexOf(lane, from), width));
  return { x, width: clip(xOf(lane, indexOf(lane, to) + 1, width)) - x };
}
