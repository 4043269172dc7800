/**
 * Keeps a canvas up to date with what it shows, in the pixels of the screen and the colors of the
 * theme.
 */
import { cancelDraw, drawSoon } from './frames.ts';
import { type Inks, readInks } from './inks.ts';

export interface CanvasPainter<Look> {
  show(look: Look): void;
  /** Adapts to another width, in pixels, or to the colors of another scheme. */
  restyle(width: number, scheme: string): void;
  stop(): void;
}

/** The canvas, size and colors with which a picture is drawn. */
export interface Paper {
  context: CanvasRenderingContext2D;
  /** Pixels. */
  width: number;
  inks: Inks;
}

/**
 * @param height pixels
 * @param paint draws on a blank canvas at the time `now` of the frame, and returns whether another
 * frame is needed
 */
export function createCanvasPainter<Look>(
  canvas: HTMLCanvasElement,
  height: number,
  paint: (paper: Paper, look: Look, now: number) => boolean,
): CanvasPainter<Look> {
  const context = canvas.getContext('2d')!;
  let look: Look | undefined;
  let width = 0;
  let scheme = '';
  let inks: Inks | undefined;

  const draw = (now: number): boolean => {
    if (look === undefined || width === 0) return false;
    const ratio = devicePixelRatio;
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    // Setting the size clears the canvas and allocates it again.
    if (canvas.width !== across) canvas.width = across;
    if (canvas.height !== down) canvas.height = down;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    inks ??= readInks(canvas);
    return paint({ context, width, inks }, look, now);
  };

  return {
    show(next) {
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
