/** Virtual lists with rows of different heights that scroll with the page, not on their own. */
import {
  useCallback,
  useLayoutEffect,
  useRef,
  useState,
  type RefCallback,
  type RefObject,
} from 'react';
import { flushSync } from 'react-dom';

/** Extra rows rendered beyond the visible ones: ahead in the scroll direction, and behind. */
const AHEAD = 4;
const BEHIND = 1;

export interface UnevenRows<Before extends HTMLElement, Row extends HTMLElement> {
  /** Ref of the spacer above the rendered rows. The spacer is {@link UnevenRows.abovePx} high. */
  before: RefObject<Before | null>;
  abovePx: number;
  belowPx: number;
  /** The rows to render: from `first` to `end`, exclusive. */
  first: number;
  end: number;
  /** Ref of each rendered row. The element's `data-row` is the row's id. */
  row: RefCallback<Row>;
  /** Scrolls the minimum distance that shows the row, and renders the row before returning. */
  scrollToRow(index: number): void;
}

/**
 * Returns the rows to render at the current scroll position. Remembers the measured height of each
 * row after the row leaves the document.
 *
 * @param guessPx the assumed height of a row that has not been rendered yet.
 */
export function useUnevenRows<Before extends HTMLElement, Row extends HTMLElement>(
  ids: readonly string[],
  guessPx: (index: number) => number,
): UnevenRows<Before, Row> {
  const before = useRef<Before>(null);
  const [heights, setHeights] = useState<ReadonlyMap<string, number>>(new Map());
  const [drawn, setDrawn] = useState(() => ({
    seen: 0,
    seenEnd: Math.ceil(innerHeight / Math.max(1, guessPx(0))),
    isDownward: true,
  }));
  const tops = topsOf(ids.map((id, index) => heights.get(id) ?? guessPx(index)));
  const latest = useRef(tops);

  const measure = useCallback((): void => {
    const [above, page] = [before.current, pageOf(before.current)];
    if (above === null || page === null) return;
    const top = page.getBoundingClientRect().top - above.getBoundingClientRect().top;
    const seen = rowAt(latest.current, top);
    const seenEnd = rowAt(latest.current, top + page.clientHeight) + 1;
    setDrawn((now) =>
      now.seen === seen && now.seenEnd === seenEnd
        ? now
        : { seen, seenEnd, isDownward: seen >= now.seen },
    );
  }, []);

  useLayoutEffect(() => {
    latest.current = tops;
    measure();
  });
  useLayoutEffect(() => {
    const page = pageOf(before.current);
    if (page === null) return undefined;
    // Renders in the same frame as the scroll; otherwise, the rows would appear one frame late.
    const onScroll = (): void => flushSync(measure);
    page.addEventListener('scroll', onScroll, { passive: true });
    const resizes = new ResizeObserver(measure);
    resizes.observe(page);
    return () => {
      page.removeEventListener('scroll', onScroll);
      resizes.disconnect();
    };
  }, [measure]);

  const [measured] = useState(
    () =>
      new ResizeObserver((entries) => {
        const seen = entries.map(({ target }) => {
          const { dataset, offsetHeight } = target as HTMLElement;
          return [dataset['row'] ?? '', offsetHeight] as const;
        });
        setHeights((known) =>
          seen.every(([id, height]) => known.get(id) === height)
            ? known
            : new Map([...known, ...seen]),
        );
      }),
  );
  const row = useCallback(
    (element: Row) => {
      measured.observe(element);
      return () => measured.unobserve(element);
    },
    [measured],
  );

  const [above, below] = drawn.isDownward ? [BEHIND, AHEAD] : [AHEAD, BEHIND];
  const end = Math.min(ids.length, drawn.seenEnd + below);
  const first = Math.max(0, Math.min(drawn.seen - above, end));
  const topOf = (index: number): number => tops[index] ?? 0;
  return {
    before,
    first,
    end,
    abovePx: topOf(first),
    belowPx: topOf(ids.length) - topOf(end),
    row,
    scrollToRow(index) {
      const [above, page] = [before.current, pageOf(before.current)];
      if (above === null || page === null) return;
      const list =
        above.getBoundingClientRect().top - page.getBoundingClientRect().top + page.scrollTop;
      const lowest = list + topOf(index + 1) - page.clientHeight;
      page.scrollTop = Math.min(list + topOf(index), Math.max(lowest, page.scrollTop));
      flushSync(measure);
    },
  };
}

/** Returns the scroll container around an element; null if there is none. */
const pageOf = (element: HTMLElement | null): HTMLElement | null =>
  element?.closest('main') ?? null;

/** Returns the offset of each row from the start of the list, then the end of the last row. */
export function topsOf(heights: readonly number[]): Float64Array {
  const tops = new Float64Array(heights.length + 1);
  heights.forEach((height, index) => (tops[index + 1] = (tops[index] ?? 0) + height));
  return tops;
}

/** Returns the index of the row at an offset; outside the list, the index of the nearest row. */
export function rowAt(tops: Float64Array, top: number): number {
  let [low, high] = [0, Math.max(0, tops.length - 2)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((tops[middle] ?? 0) <= top) low = middle;
    else high = middle - 1;
  }
  return low;
}
