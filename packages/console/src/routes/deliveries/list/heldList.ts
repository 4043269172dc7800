import { useMemo, useState, type RefObject } from 'react';
import type { DeliverySummary } from '@sluice/kit/sluice';
import { heldRows } from '../../../data/live/liveCache.ts';
import type { DeliveryTableHandle } from './deliveryTable.tsx';

export interface HeldList {
  /** Rows from the anchor on, newest first. */
  shown: readonly DeliverySummary[];
  /** Number of newer rows, above the anchor. */
  waiting: number;
  /** True if the user paused the list, even without scrolling. */
  held: boolean;
  hold(on: boolean): void;
  showNewest(): void;
  /** Reports on each scroll whether the list has left the top. */
  onScrolled(away: boolean): void;
  /** Resets the state for a different list. */
  release(): void;
}

/** Keeps a live list still while the user has scrolled down or paused it. */
export function useHeldList(
  rows: readonly DeliverySummary[],
  table: RefObject<DeliveryTableHandle | null>,
): HeldList {
  const [anchor, setAnchor] = useState<Pick<DeliverySummary, 'id'> | null>(null);
  const [held, setHeld] = useState(false);
  const { shown, newer: waiting } = useMemo(() => heldRows(rows, anchor), [rows, anchor]);
  const standStill = (): void => {
    const [top] = shown;
    if (anchor === null && top !== undefined) setAnchor(top);
  };
  const showNewest = (): void => {
    setAnchor(held ? (rows[0] ?? null) : null);
    table.current?.scrollToTop();
  };
  return {
    shown,
    waiting,
    held,
    hold(on) {
      setHeld(on);
      if (on) standStill();
      else showNewest();
    },
    showNewest,
    onScrolled(away) {
      if (held) return;
      if (away) standStill();
      else if (anchor !== null) setAnchor(null);
    },
    release: () => setAnchor(null),
  };
}
