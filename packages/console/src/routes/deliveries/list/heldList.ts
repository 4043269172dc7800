import { useMemo, useState, type RefObject } from 'react';
import type { DeliverySummary } from '@sluice/kit/sluice';
import { heldRows } from '../../../data/live/liveCache.ts';
import type { DeliveryTableHandle } from './deliveryTable.tsx';

export interface HeldList {
  /** From the row on that the list stands still at, the newest first. */
  shown: readonly DeliverySummary[];
  /** How many have come above it. */
  waiting: number;
  /** Held by its reader, who need not have scrolled. */
  held: boolean;
  hold(on: boolean): void;
  showNewest(): void;
  /** To hear of each scroll: whether it has left the top. */
  onScrolled(away: boolean): void;
  /** Another list has begun. */
  release(): void;
}

/** A live list that stands still while its reader has scrolled, or holds it. */
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
