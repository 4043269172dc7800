import { useLayoutEffect, useRef, type RefObject } from 'react';

const CHOSEN = '[aria-current="page"], [aria-selected="true"]';

/**
 * Scrolls a row of tabs to its selected tab, which is centered if possible.
 * @returns a ref for the row, which scrolls horizontally.
 */
export function useChosenTab<Row extends HTMLElement>(chosen: string): RefObject<Row | null> {
  const row = useRef<Row>(null);
  useLayoutEffect(() => {
    const tab = row.current?.querySelector(CHOSEN)?.getBoundingClientRect();
    if (row.current === null || tab === undefined) return;
    const { left, width } = row.current.getBoundingClientRect();
    row.current.scrollLeft += tab.left + tab.width / 2 - (left + width / 2);
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- the tab is found by its attribute; other changes move nothing
  }, [chosen]);
  return row;
}
