/**
 * Virtual lists with rows of equal height. The document contains only the visible rows and a few
 * around them.
 */
import { useLayoutEffect, useRef, useState, type CSSProperties, type RefObject } from 'react';
import { flushSync } from 'react-dom';

/** Number of rows rendered beyond the visible ones: ahead in the scroll direction, and behind. */
const AHEAD = 4;
const BEHIND = 1;

export interface RowWindow<Scroller extends HTMLElement, List extends HTMLElement> {
  scroller: RefObject<Scroller | null>;
  list: RefObject<List | null>;
  /** The rows to render: from `first` to `end`, exclusive. */
  first: number;
  end: number;
  /** Style of the list: the height of all rows, with padding in place of the rows above `first`. */
  style: CSSProperties;
  /** Scrolls the minimum distance that shows the row; with `center`, centers the row. */
  scrollToRow(index: number, align?: 'nearest' | 'center'): void;
}

/**
 * Returns the rows to render at the current scroll position. All rows have the same height, so no
 * row is measured.
 */
export function useRowWindow<Scroller extends HTMLElement, List extends HTMLElement>(
  count: number,
  rowHeightPx: number,
): RowWindow<Scroller, List> {
  const scroller = useRef<Scroller>(null);
  const list = useRef<List>(null);
  // Assumes the height of the browser window until the scroll container is measured.
  const [seen, setSeen] = useState({
    first: 0,
    rows: Math.ceil(innerHeight / rowHeightPx),
    isDownward: true,
  });

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const measure = (): void => {
      const first = Math.floor(element.scrollTop / rowHeightPx);
      const rows = Math.ceil(element.clientHeight / rowHeightPx) + 1;
      setSeen((before) =>
        before.first === first && before.rows === rows
          ? before
          : { first, rows, isDownward: first >= before.first },
      );
    };
    // Renders in the same frame as the scroll; otherwise, the rows would appear one frame late.
    const onScroll = (): void => flushSync(measure);
    element.addEventListener('scroll', onScroll, { passive: true });
    const resizes = new ResizeObserver(measure);
    resizes.observe(element);
    return () => {
      element.removeEventListener('scroll', onScroll);
      resizes.disconnect();
    };
  }, [rowHeightPx]);

  const top = Math.max(0, Math.min(seen.first, count - seen.rows));
  const [above, below] = seen.isDownward ? [BEHIND, AHEAD] : [AHEAD, BEHIND];
  const first = Math.max(0, top - above);
  return {
    scroller,
    list,
    first,
    end: Math.min(count, top + seen.rows + below),
    style: { height: `${count * rowHeightPx}px`, paddingTop: `${first * rowHeightPx}px` },
    scrollToRow(index, align = 'nearest') {
      const [outer, inner] = [scroller.current, list.current];
      if (outer === null || inner === null) return;
      const head =
        inner.getBoundingClientRect().top - outer.getBoundingClientRect().top + outer.scrollTop;
      const highest = index * rowHeightPx;
      const lowest = highest + rowHeightPx + head - outer.clientHeight;
      outer.scrollTop =
        align === 'center'
          ? (highest + lowest) / 2
          : Math.min(highest, Math.max(lowest, outer.scrollTop));
    },
  };
}
