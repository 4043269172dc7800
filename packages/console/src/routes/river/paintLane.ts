/** Paints a lane on a canvas. */
import type { Inks } from '../../ui/canvas/inks.ts';
import type { Paper } from '../../ui/canvas/canvasPainter.ts';
import { BASE, cellWidth, LANE_HEIGHT, rowY, spanOf, TOP, xOf } from './geometry.ts';
import { type Branch, type Cell, indexOf, type Lane, type Point } from './lane.ts';

export interface LaneLook {
  lane: Lane;
  cursor: Point | null;
  range: { from: number; to: number } | null;
}

/** Height in pixels of the bar of a cell without matches, and of one with the lowest number. */
const EMPTY = 1.5;
const LOWEST = 4;

/** @param shift pixels by which the cells are still to the right of their place */
export function paintLane(
  { context, width, inks }: Paper,
  { lane, cursor, range }: LaneLook,
  shift: number,
): void {
  if (range !== null) {
    const span = spanOf(lane, range, width);
    context.globalAlpha = 0.16;
    context.fillStyle = inks.accent;
    context.fillRect(span.x, 0, span.width, LANE_HEIGHT);
    context.globalAlpha = 1;
  }
  context.save();
  context.translate(shift, 0);
  paintHatches(context, lane, width, inks);
  paintCells(context, lane, width, inks);
  for (const branch of lane.branches) paintBranch(context, lane, branch, width, inks);
  paintLines(context, lane, width, inks);
  context.restore();
  if (cursor !== null) paintCursor(context, lane, cursor, width, inks);
}

function paintCells(
  context: CanvasRenderingContext2D,
  lane: Lane,
  width: number,
  inks: Inks,
): void {
  const step = cellWidth(lane, width);
  const bar = Math.max(1, step < 5 ? step - 0.5 : step - 2);
  for (const [index, cell] of lane.cells.entries()) {
    const x = xOf(lane, index, width);
    const height =
      cell.fill === 'empty' ? EMPTY : Math.max(LOWEST, Math.round(cell.height * (BASE - TOP)));
    paintBar(context, cell, { x, bar, height }, inks);
    if (cell.codes.length > 0) {
      context.fillStyle = inks.warn;
      context.fillRect(x, BASE + 3, bar, 2);
    }
    if (cell.reorgs.length > 0) paintDiamond(context, x + bar / 2, rowY(1), inks.reorg);
  }
}

/**
 * Draws the bar of a cell: solid if confirmed, otherwise an outline. Its lower part shows the share
 * of deliveries that failed, and above it the share that waits.
 */
function paintBar(
  context: CanvasRenderingContext2D,
  { fill, delivered, waiting, retrying, failed }: Cell,
  { x, bar, height }: { x: number; bar: number; height: number },
  inks: Inks,
): void {
  if (fill === 'empty') {
    context.fillStyle = inks['line-strong'];
    context.fillRect(x, BASE - EMPTY, bar, EMPTY);
    return;
  }
  const isSolid = fill === 'confirmed';
  if (isSolid || bar < 3) {
    // An outline this thin is filled with a fainter color.
    context.fillStyle = isSolid ? inks.text : inks.faint;
    context.fillRect(x, BASE - height, bar, height);
  } else {
    context.strokeStyle = fill === 'unknown' ? inks.faint : inks.text;
    context.lineWidth = 1;
    context.strokeRect(x + 0.5, BASE - height + 0.5, bar - 1, height - 1);
  }
  const bad = failed + retrying;
  const all = bad + waiting + delivered;
  const tall = (n: number): number => (n === 0 ? 0 : Math.max(3, Math.round((height * n) / all)));
  const badTall = Math.min(height, tall(bad));
  const waitingTall = Math.min(height - badTall, tall(waiting));
  context.fillStyle = inks.info;
  context.fillRect(x, BASE - badTall - waitingTall, bar, waitingTall);
  context.fillStyle = inks.bad;
  context.fillRect(x, BASE - badTall, bar, badTall);
  // The notch marks failures without color.
  context.fillStyle = inks.bg;
  if (badTall > 0 && bar >= 4) context.fillRect(x, BASE - 2, bar, 1);
}

/** Draws the removed blocks as a branch that leaves the lane after their common ancestor. */
function paintBranch(
  context: CanvasRenderingContext2D,
  lane: Lane,
  { ancestor, depth, row, cells }: Branch,
  width: number,
  inks: Inks,
): void {
  const step = cellWidth(lane, width);
  const y = rowY(row);
  const centerOf = (at: number): number => xOf(lane, indexOf(lane, at) + 0.5, width) - 1;
  const start = centerOf(ancestor);
  context.strokeStyle = inks.reorg;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(start, BASE + 1);
  context.bezierCurveTo(start, y, start, y, start + step, y);
  context.lineTo(centerOf(ancestor + depth), y);
  context.stroke();
  const matched = new Map(cells.map((cell) => [cell.at, cell]));
  for (let at = ancestor + 1; at <= ancestor + depth; at++) {
    const x = centerOf(at);
    if (x < 0) continue;
    const cell = matched.get(at);
    const size = cell === undefined || cell.fill === 'empty' ? 1.5 : Math.min(3, step / 2);
    context.fillStyle = inks.bg;
    context.fillRect(x - size, y - size, 2 * size, 2 * size);
    context.strokeRect(x - size, y - size, 2 * size, 2 * size);
    if (size < 2 || cell === undefined) continue;
    context.fillStyle = inks.reorg;
    // Undone: a removal webhook followed. Otherwise, the webhooks were cancelled.
    if (cell.undone > 0) context.fillRect(x - size, y - size, 2 * size, 2 * size);
    else {
      context.beginPath();
      context.moveTo(x - size, y + size);
      context.lineTo(x + size, y - size);
      context.stroke();
    }
  }
}

function paintDiamond(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  color: string,
): void {
  context.fillStyle = color;
  context.beginPath();
  context.moveTo(x, y - 4);
  context.lineTo(x + 4, y);
  context.lineTo(x, y + 4);
  context.lineTo(x - 4, y);
  context.fill();
}

function paintLines(
  context: CanvasRenderingContext2D,
  lane: Lane,
  width: number,
  inks: Inks,
): void {
  context.font = '10px "Geist Mono", monospace';
  context.textAlign = 'right';
  context.textBaseline = 'top';
  for (const { label, at } of lane.lines) {
    const x = Math.round(xOf(lane, indexOf(lane, at) + 1, width)) - 1.5;
    context.strokeStyle = label === 'final' ? inks.muted : inks['line-strong'];
    context.lineWidth = 1;
    context.setLineDash(label === 'final' ? [] : [2, 2]);
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, BASE + 3);
    context.stroke();
    context.setLineDash([]);
    if (x < 36) continue;
    context.fillStyle = inks.muted;
    context.fillText(label, x - 3, 0);
  }
}

function paintHatches(
  context: CanvasRenderingContext2D,
  lane: Lane,
  width: number,
  inks: Inks,
): void {
  context.lineWidth = 1;
  for (const hatch of lane.hatches) {
    context.strokeStyle = hatch.isMissed ? inks.warn : inks['line-strong'];
    const span = spanOf(lane, hatch, width);
    if (span.width <= 0) continue;
    context.save();
    context.beginPath();
    context.rect(span.x, TOP, span.width, BASE - TOP);
    context.clip();
    context.globalAlpha = 0.7;
    context.beginPath();
    for (let x = span.x - (BASE - TOP); x < span.x + span.width; x += 5) {
      context.moveTo(x, BASE);
      context.lineTo(x + BASE - TOP, TOP);
    }
    context.stroke();
    context.restore();
  }
}

function paintCursor(
  context: CanvasRenderingContext2D,
  lane: Lane,
  { at, row }: Point,
  width: number,
  inks: Inks,
): void {
  const span = spanOf(lane, { from: at, to: at }, width);
  if (span.width <= 0) return;
  const [top, bottom] = row === 0 ? [TOP - 4, BASE + 2] : [rowY(row) - 5, rowY(row) + 5];
  context.strokeStyle = inks.accent;
  context.lineWidth = 1.5;
  context.strokeRect(span.x - 1, top, Math.max(3, span.width), bottom - top);
}
