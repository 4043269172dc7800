/** Paints a heat map on a canvas. */
import {
  type CanvasPainter,
  createCanvasPainter,
  type Paper,
} from '../../ui/canvas/canvasPainter.ts';
import type { HeatCursor } from './cursor.ts';
import { rangeOf } from './cursor.ts';
import { columnSpan, columnWidth, HEAT_HEIGHT, rowSpan, TICKS_MS, yOfMs } from './geometry.ts';
import { type HeatMap, LEVELS, levelOf } from './heatMap.ts';

export interface HeatLook {
  map: HeatMap;
  cursor: HeatCursor;
}

/** Returns the opacity of a color of the scale, from 1 to `LEVELS`. */
export const opacityOf = (level: number): number => 0.16 + (0.84 * (level - 1)) / (LEVELS - 1);

export const createHeatPainter = (canvas: HTMLCanvasElement): CanvasPainter<HeatLook> =>
  createCanvasPainter(canvas, HEAT_HEIGHT, paintHeatMap);

function paintHeatMap(paper: Paper, { map, cursor }: HeatLook): boolean {
  paintTicks(paper);
  paintCells(paper, map);
  const range = rangeOf(cursor);
  if (range === undefined) return false;
  const { context, inks } = paper;
  const { x, width } = columnSpan(map, range.columns, paper.width);
  const { y, height } = rowSpan(map, range.rows);
  if (cursor.anchor !== null) {
    context.globalAlpha = 0.16;
    context.fillStyle = inks.accent;
    context.fillRect(x, y, width, height);
    context.globalAlpha = 1;
  }
  context.strokeStyle = inks.accent;
  context.lineWidth = 1.5;
  context.strokeRect(x, y, Math.max(3, width), height);
  return false;
}

function paintTicks({ context, width, inks }: Paper): void {
  context.strokeStyle = inks.line;
  context.lineWidth = 1;
  context.beginPath();
  for (const ms of TICKS_MS) {
    const y = Math.round(yOfMs(ms)) + 0.5;
    context.moveTo(0, y);
    context.lineTo(width, y);
  }
  context.stroke();
}

function paintCells({ context, width, inks }: Paper, map: HeatMap): void {
  const step = columnWidth(map, width);
  const space = step < 5 ? 0.5 : 1;
  for (const [index, { result, counts }] of map.rows.entries()) {
    const { y, height } = rowSpan(map, [index, index]);
    context.fillStyle = result === 'succeeded' ? inks.text : inks.bad;
    const tall = Math.min(height, result === 'succeeded' ? height : 11) - 1;
    for (const [column, n] of counts.entries()) {
      if (n === 0) continue;
      context.globalAlpha = opacityOf(levelOf(n, map.max));
      context.fillRect(column * step, y, step - space, tall);
    }
  }
  context.globalAlpha = 1;
}
