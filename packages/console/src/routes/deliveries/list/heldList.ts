import { useMemo, useState, type RefObject } from 'react';
import type { DeliverySummary } from '@sluice/kit/sluice';
import { heldRows } from '../../../data/live/liveCache.ts';
import type { DeliveryTableHandle } from './deliveryTable.tsx';

export interface HeldList {
  /**
   * Rows to show, newest first. While the list is kept still, they start at the anchor: the row
   * that was the newest when the list last moved.
   */
  shown: readonly DeliverySummary[];
  /** Number of rows that are newer than the anchor and hidden. */
  waiting: number;
  /** True if the user paused the list. */
  held: boolean;
  hold(on: boolean): void;
  showNewest(): void;
  /** Called on each scroll. `away` is true if the list is no longer at the top. */
  onScrolled(away: boolean): void;
  /** Reports whether the pointer or the focus is on the rows. */
  onUsed(isUsed: boolean): void;
}

/**
 * Keeps a live list still, so that the user can read it, while it is paused or scrolled, the
 * pointer or the focus is on its rows, or a delivery is open.
 * @param of identifies the list; a different list starts at its newest row.
 */
export function useHeldList({
  of,
  rows,
  isLoaded,
  isInspecting,
  table,
}: {
  of: string;
  rows: readonly DeliverySummary[];
  isLoaded: boolean;
  isInspecting: boolean;
  table: RefObject<DeliveryTableHandle | null>;
}): HeldList {
  const [anchor, setAnchor] = useState<{ of: string; id: string } | null>(null);
  const [held, setHeld] = useState(false);
  const [isAway, setAway] = useState(false);
  const [isUsed, setUsed] = useState(false);
  const standsStill = held || isAway || isUsed || isInspecting;
  const [top] = rows;
  const newest = top === undefined || !isLoaded ? null : { of, id: top.id };
  // Sets the anchor during the render, because an effect would run after new rows have moved the
  // list.
  if (anchor !== null && (!standsStill || anchor.of !== of)) setAnchor(null);
  else if (anchor === null && standsStill && newest !== null) setAnchor(newest);
  const { shown, newer: waiting } = useMemo(() => heldRows(rows, anchor), [rows, anchor]);
  const showNewest = (): void => {
    setAway(false);
    setAnchor(standsStill ? newest : null);
    table.current?.scrollToTop();
  };
  return {
    shown,
    waiting,
    held,
    hold(on) {
      setHeld(on);
      if (!on) showNewest();
    },
    showNewest,
    onScrolled: setAway,
    onUsed: setUsed,
  };
}
