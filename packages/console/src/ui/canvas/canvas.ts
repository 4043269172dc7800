import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useMedia } from '../media.ts';
import { useTheme } from '../preferences.ts';
import type { CanvasPainter } from './canvasPainter.ts';

/**
 * Returns the ref of a canvas that shows `look`.
 * @param createPainter a function that is always the same
 * @param look what is drawn; the canvas is drawn again when it is another object
 * @param width pixels
 */
export function useCanvas<Look>(
  createPainter: (canvas: HTMLCanvasElement) => CanvasPainter<Look>,
  look: Look,
  width: number,
) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const painter = useRef<CanvasPainter<Look>>(null);
  const theme = useTheme();
  const isDark = useMedia('(prefers-color-scheme: dark)');
  const isForced = useMedia('(forced-colors: active)');
  useLayoutEffect(() => {
    painter.current = createPainter(canvas.current!);
    return () => painter.current?.stop();
  }, [createPainter]);
  const scheme = `${theme} ${isDark} ${isForced}`;
  useEffect(() => painter.current?.restyle(width, scheme), [width, scheme]);
  useEffect(() => painter.current?.show(look), [look]);
  return canvas;
}

/** Returns a ref and the width of its element in pixels; 0 before the first layout. */
export function useWidth() {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const observed = element.current!;
    setWidth(observed.clientWidth);
    const observer = new ResizeObserver(() => setWidth(observed.clientWidth));
    observer.observe(observed);
    return () => observer.disconnect();
  }, []);
  return [element, width] as const;
}
