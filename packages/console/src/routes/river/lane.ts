/** The model of a lane: what one chain's part of the river shows, independent of its size. */
import type { RecentBlock, Reorg } from '@sluice/kit/sluice';

/**
 * `unknown`: deliveries are not loaded yet · `empty`: no match · `open`: matched, not confirmed ·
 * `confirmed`: matched and confirmed.
 */
export type CellFill = 'unknown' | 'empty' | 'open' | 'confirmed';

/** The counts of a block or of a step of time. */
export type CellCounts = Pick<
  RecentBlock,
  'records' | 'delivered' | 'waiting' | 'retrying' | 'failed' | 'cancelled' | 'undone' | 'slowestMs'
>;

export interface Cell extends CellCounts {
  /** Number of the block, or start of the step in Unix milliseconds. */
  at: number;
  /** The same number, or the last millisecond of the step. */
  until: number;
  /** Time of the block or start of the step, in Unix milliseconds. */
  timeMs: number;
  fill: CellFill;
  /** Height of the bar from 0 to 1. */
  height: number;
  /** Codes of checks that a block did not pass. */
  codes: readonly string[];
  /** Reorgs that were recorded in a step. */
  reorgs: readonly Reorg[];
}

/** Blocks that left the chain in one reorg, or that are not recorded as a reorg yet. */
export interface Branch {
  /** Number of the newest block that stayed in the chain. */
  ancestor: number;
  depth: number;
  /** Row below the lane, from 1. */
  row: number;
  /** The removed blocks that a stream matched. */
  cells: readonly Cell[];
}

/** A range that was not read or not matched; ends are inclusive, in units of `Cell.at`. */
export interface Hatch {
  from: number;
  to: number;
  why: string;
  /** Whether webhooks may be missing. */
  isMissed: boolean;
}

export interface Lane {
  unit: 'block' | 'step';
  /** Oldest first. */
  cells: readonly Cell[];
  /** Number of cells that fit; with fewer, the left side is blank. */
  capacity: number;
  /** Distance of two cells in units of `Cell.at`: 1, or the length of a step in milliseconds. */
  step: number;
  branches: readonly Branch[];
  lines: readonly { label: 'safe' | 'final'; at: number }[];
  hatches: readonly Hatch[];
}

/** A place in a lane: a cell in row 0, or a removed block in the row of its branch. */
export interface Point {
  at: number;
  row: number;
}

export const NO_COUNTS: CellCounts = {
  records: 0,
  delivered: 0,
  waiting: 0,
  retrying: 0,
  failed: 0,
  cancelled: 0,
  undone: 0,
  slowestMs: null,
};

/**
 * Returns the index of a cell, which may be outside of the list: cells are at equal distances.
 */
export const indexOf = ({ cells, step }: Lane, at: number): number =>
  Math.floor((at - (cells[0]?.at ?? 0)) / step);

export function cellAt(lane: Lane, { at, row }: Point): Cell | undefined {
  if (row === 0) return lane.cells[indexOf(lane, at)];
  return lane.branches
    .filter((branch) => branch.row === row)
    .flatMap(({ cells }) => cells)
    .find((cell) => cell.at === at);
}

export const hatchAt = ({ hatches }: Lane, { at, until }: Pick<Cell, 'at' | 'until'>) =>
  hatches.find(({ from, to }) => from <= until && at <= to);
