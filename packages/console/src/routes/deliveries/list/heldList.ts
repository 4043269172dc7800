import { useMemo, useState, type RefObject } from 'react';
import type { DeliverySummary } from '@sluice/kit/sluice';
import { heldRows } from '../../../data/live/liveCache.ts';
import type { DeliveryTableHandle } from './deliveryTable.tsx';

export interface HeldList {
  /** The anchor and all older rows, newest first. */
  shown: readonly DeliverySummary[];
  /** Number of newer rows, above the anchor. */
  waiting: number;
  /** True if the user paused the list. */
  held: boolean;
  hold(on: boolean): void;
  showNewest(): void;
  /** Reports on each scroll whether the list has left the top. */
  onScrolled(away: boolean): void;
  /** Reports whether the pointer or the focus is on the rows. */
  onUsed(isUsed: boolean): void;
}

/**
 * Keeps a live list still while the user reads it: paused, scrolled, with the pointer or the focus
 * on its rows, or with a row open.
 * @param of identifies the list; another one starts at its newest row.
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
  // Derived from the rows of this render: an effect would run after new rows have moved the list.
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
