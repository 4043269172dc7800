import type { DeliverySummary } from '@sluice/kit/sluice';
import { useState, type RefObject } from 'react';
import { findRow, placeOf } from '../../../data/live/liveCache.ts';
import type { DeliveryTableHandle } from './deliveryTable.tsx';

/**
 * Tracks the row that keys apply to: the open delivery or, if none is open, the row last moved to.
 */
export function useRowCursor({
  shown,
  selected,
  table,
  onSelect,
  onAbove,
}: {
  shown: readonly DeliverySummary[];
  /** Id of the open delivery. */
  selected: string | undefined;
  table: RefObject<DeliveryTableHandle | null>;
  onSelect: (id: string) => void;
  /** Called when the cursor moves above the first row. */
  onAbove: () => void;
}): {
  current: string | undefined;
  /** @returns the id of the row that keys now apply to; undefined if there are no rows. */
  move: (step: 1 | -1) => string | undefined;
  clear: () => void;
} {
  const [cursor, setCursor] = useState<string | null>(null);
  const current = selected ?? cursor ?? undefined;
  return {
    current,
    move(step) {
      const from = findRow(shown, current);
      const index = from === undefined ? 0 : placeOf(shown, from.id) + step;
      if (index < 0) onAbove();
      const next = shown[Math.max(0, Math.min(shown.length - 1, index))];
      if (next === undefined) return undefined;
      setCursor(next.id);
      // With the inspector open, moving opens the next row; otherwise, it only focuses the row.
      if (selected === undefined) table.current?.focusRow(next.id);
      else {
        table.current?.scrollToRow(next.id);
        onSelect(next.id);
      }
      return next.id;
    },
    clear: () => setCursor(null),
  };
}
