/** Keeps a canvas up to date with a lane, and slides in new blocks. */
import { cancelDraw, drawSoon } from './frames.ts';
import { cellWidth, LANE_HEIGHT } from './geometry.ts';
import { type Inks, readInks } from './inks.ts';
import { indexOf } from './lane.ts';
import { type LaneLook, paintLane } from './paintLane.ts';

/** Time in which new blocks slide to their place. */
const SLIDE_MS = 220;
/** Maximum number of cells to slide by. */
const MAX_SLIDE = 6;

export interface LanePainter {
  show(look: LaneLook): void;
  /** Adapts to another width, in pixels, or to the colors of another scheme. */
  restyle(width: number, scheme: string): void;
  stop(): void;
}

export function createLanePainter(canvas: HTMLCanvasElement): LanePainter {
  const context = canvas.getContext('2d')!;
  let look: LaneLook | undefined;
  let width = 0;
  let scheme = '';
  let inks: Inks | undefined;
  let slide = { cells: 0, since: 0 };

  const draw = (now: number): boolean => {
    if (look === undefined || width === 0) return false;
    const ratio = devicePixelRatio;
    const [across, down] = [Math.round(width * ratio), Math.round(LANE_HEIGHT * ratio)];
    // Setting the size clears the canvas and allocates it again.
    if (canvas.width !== across) canvas.width = across;
    if (canvas.height !== down) canvas.height = down;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    inks ??= readInks(canvas);
    const left = Math.max(0, 1 - (now - slide.since) / SLIDE_MS);
    const shift = slide.cells * left * left * cellWidth(look.lane, width);
    paintLane(context, look, { width, inks, shift });
    return left > 0 && slide.cells > 0;
  };

  return {
    show(next) {
      const newest = look?.lane.cells.at(-1);
      if (newest !== undefined && look?.lane.unit === 'block' && next.lane.unit === 'block') {
        const moved = next.lane.cells.length - 1 - indexOf(next.lane, newest.at);
        const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
        if (moved > 0 && moved <= MAX_SLIDE && !isStill) {
          slide = { cells: moved, since: performance.now() };
        }
      }
      look = next;
      drawSoon(draw);
    },
    restyle(nextWidth, nextScheme) {
      width = nextWidth;
      if (scheme !== nextScheme) inks = undefined;
      scheme = nextScheme;
      drawSoon(draw);
    },
    stop: () => cancelDraw(draw),
  };
}
