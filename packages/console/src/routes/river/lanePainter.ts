/** Keeps a canvas up to date with a lane, and slides in new blocks. */
import { type CanvasPainter, createCanvasPainter } from '../../ui/canvas/canvasPainter.ts';
import { cellWidth, LANE_HEIGHT } from './geometry.ts';
import { indexOf } from './lane.ts';
import { type LaneLook, paintLane } from './paintLane.ts';

/** Time in which new blocks slide to their place. */
const SLIDE_MS = 220;
/** Maximum number of cells to slide by. */
const MAX_SLIDE = 6;

export function createLanePainter(canvas: HTMLCanvasElement): CanvasPainter<LaneLook> {
  let shown: LaneLook | undefined;
  let slide = { cells: 0, since: 0 };
  const painter = createCanvasPainter<LaneLook>(canvas, LANE_HEIGHT, (paper, look, now) => {
    const left = Math.max(0, 1 - (now - slide.since) / SLIDE_MS);
    paintLane(paper, look, slide.cells * left * left * cellWidth(look.lane, paper.width));
    return left > 0 && slide.cells > 0;
  });
  return {
    ...painter,
    show(next) {
      const newest = shown?.lane.cells.at(-1);
      if (newest !== undefined && shown?.lane.unit === 'block' && next.lane.unit === 'block') {
        const moved = next.lane.cells.length - 1 - indexOf(next.lane, newest.at);
        const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
        if (moved > 0 && moved <= MAX_SLIDE && !isStill) {
          slide = { cells: moved, since: performance.now() };
        }
      }
      shown = next;
      painter.show(next);
    },
  };
}
