import { useLayoutEffect, useRef, type RefObject } from 'react';

const CHOSEN = '[aria-current="page"], [aria-selected="true"]';

/**
 * Keeps the chosen tab in sight, in the middle where its row is wider than the screen.
 * @returns to be set on the row, which scrolls sideways.
 */
export function useChosenTab<Row extends HTMLElement>(chosen: string): RefObject<Row | null> {
  const row = useRef<Row>(null);
  useLayoutEffect(() => {
    const tab = row.current?.querySelector(CHOSEN)?.getBoundingClientRect();
    if (row.current === null || tab === undefined) return;
    const { left, width } = row.current.getBoundingClientRect();
    row.current.scrollLeft += tab.left + tab.width / 2 - (left + width / 2);
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- it is found by its mark; what else is drawn moves nothing
  }, [chosen]);
  return row;
}
