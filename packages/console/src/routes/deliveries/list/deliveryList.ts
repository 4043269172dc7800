import { PAGE_LIMIT } from '@sluice/kit/contract';
import type { DeliverySummary } from '@sluice/kit/sluice';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import { isSearch, rowsOf, type ListFilter } from '../../../data/live/liveCache.ts';
import { deliveriesQuery } from '../../../data/queries/deliveries.ts';
import { createDeliveryPairs } from './deliveryPairs.ts';

const NO_ROWS: DeliverySummary[] = [];
/** Number of pages after which a search stops. Each page checks up to 20,000 deliveries. */
const SEARCHED_PAGES = 10;

/**
 * Returns the deliveries that match a filter. `pairOf` finds the delivery of the same match in the
 * other phase.
 */
export function useDeliveryList(filter: ListFilter) {
  const list = useInfiniteQuery(deliveriesQuery(filter));
  const rows = useMemo(() => (list.data === undefined ? NO_ROWS : rowsOf(list.data)), [list.data]);
  const { hasNextPage, isFetching, isError, fetchNextPage } = list;
  // A page of a search may contain few rows or none, because the service checks a limited number of
  // deliveries. Further pages are loaded until the list has `PAGE_LIMIT` rows.
  // A search of a large ledger stops after some pages, until the user continues it.
  const pages = list.data?.pages.length ?? 0;
  const isSearching =
    isSearch(filter) &&
    hasNextPage &&
    !isError &&
    rows.length < PAGE_LIMIT &&
    pages % SEARCHED_PAGES !== 0;
  useEffect(() => {
    if (isSearching && !isFetching) void fetchNextPage();
  }, [isSearching, isFetching, fetchNextPage]);
  const [pairs] = useState(createDeliveryPairs);
  // Renders the rows first, and searches for their pairs afterwards.
  const isDrawn = useDeferredValue(true, false);
  const pairOf = useMemo(() => pairs.follow(isDrawn ? rows : NO_ROWS), [pairs, isDrawn, rows]);
  return { list, rows, pairOf, isSearching };
}
