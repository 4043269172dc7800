/** Long lists of equal rows: only those on screen are in the document, and a few around them. */
import { useLayoutEffect, useRef, useState, type CSSProperties, type RefObject } from 'react';
import { flushSync } from 'react-dom';

/** Rows drawn beyond the edge that is scrolled to, for the next moment of a scroll, and beyond the other. */
const AHEAD = 4;
const BEHIND = 1;

export interface RowWindow<Scroller extends HTMLElement, List extends HTMLElement> {
  scroller: RefObject<Scroller | null>;
  list: RefObject<List | null>;
  /** The rows to draw, one under the other: from `first` up to, not including, `end`. */
  first: number;
  end: number;
  /** Of the list: as high as all of its rows, those that are drawn where they belong. */
  style: CSSProperties;
  /** Scrolls no further than it must, or until the row is in the middle. */
  scrollToRow(index: number, align?: 'nearest' | 'center'): void;
}

/**
 * A scroll costs what the rows that come into view cost, and a longer list nothing: all of its numbers
 * follow from one height, so that nothing is measured or kept per row.
 */
export function useRowWindow<Scroller extends HTMLElement, List extends HTMLElement>(
  count: number,
  rowHeightPx: number,
): RowWindow<Scroller, List> {
  const scroller = useRef<Scroller>(null);
  const list = useRef<List>(null);
  // Until it is measured: what the browser's window has room for.
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
    // Within the frame that shows the scroll, or its rows would come one frame late.
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
