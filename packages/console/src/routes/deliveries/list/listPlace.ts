/** Moves a list to past deliveries, and back toward the newest. */
import { timeOfId } from '@sluice/kit/contract';
import type { DeliverySummary } from '@sluice/kit/sluice';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { readNewer } from '../../../data/queries/deliveries.ts';
import { findRow, type ListFilter } from '../../../data/live/liveCache.ts';

export function useListPlace({
  filter,
  rows,
  isRead,
  selected,
  scrollToRow,
  onUntil,
}: {
  filter: ListFilter;
  rows: readonly DeliverySummary[];
  /** Whether the rows of the filter are loaded. */
  isRead: boolean;
  /** Id of the delivery that the URL selects. */
  selected: string | undefined;
  scrollToRow: (id: string) => void;
  onUntil: (until: number | undefined, how: 'placed' | 'moved') => void;
}) {
  // Id of the row to scroll to once it is listed: the row that a link selects, or the previous top
  // row.
  const kept = useRef(selected);
  useEffect(() => {
    const row = findRow(rows, kept.current);
    if (row === undefined) return;
    kept.current = undefined;
    scrollToRow(row.id);
  });

  // If a link selects a delivery older than the listed rows, the list is moved to start with that
  // delivery.
  const isOpened = useRef(false);
  useEffect(() => {
    if (isOpened.current || !isRead) return;
    isOpened.current = true;
    const oldest = rows.at(-1)?.id;
    if (selected === undefined || oldest === undefined || selected >= oldest) return;
    onUntil(timeOfId(selected), 'placed');
  }, [isRead, rows, selected, onUntil]);

  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => readNewer(queryClient, filter),
    onSuccess: (until) => {
      kept.current = rows[0]?.id;
      onUntil(until, 'moved');
    },
  });
}
