/** Where a list of deliveries stands when it is not at its newest, and how it goes on from there. */
import type { DeliverySummary } from '@sluice/kit/sluice';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { readNewer } from '../../../data/queries/deliveries.ts';
import { findRow, timeOfId, type ListFilter } from '../../../data/live/liveCache.ts';

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
  /** The rows are those of the filter. */
  isRead: boolean;
  /** The delivery that the URL selects. */
  selected: string | undefined;
  scrollToRow: (id: string) => void;
  onUntil: (until: number | undefined, how: 'placed' | 'moved') => void;
}) {
  // To be on screen once it is listed: what a link selects, or what was on top before.
  const kept = useRef(selected);
  useEffect(() => {
    const row = findRow(rows, kept.current);
    if (row === undefined) return;
    kept.current = undefined;
    scrollToRow(row.id);
  });

  // What a link selects may be older than the newest: the list then begins with it.
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
