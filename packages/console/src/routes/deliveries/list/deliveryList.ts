import type { DeliverySummary } from '@sluice/kit/sluice';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useState } from 'react';
import { rowsOf, type ListFilter } from '../../../data/live/liveCache.ts';
import { deliveriesQuery } from '../../../data/queries/deliveries.ts';
import { createDeliveryPairs } from './deliveryPairs.ts';

const NO_ROWS: DeliverySummary[] = [];

/** Returns the deliveries that match a filter, and the pair of each. */
export function useDeliveryList(filter: ListFilter) {
  const list = useInfiniteQuery(deliveriesQuery(filter));
  const rows = useMemo(() => (list.data === undefined ? NO_ROWS : rowsOf(list.data)), [list.data]);
  const [pairs] = useState(createDeliveryPairs);
  // Renders the rows before it searches for their pairs.
  const isDrawn = useDeferredValue(true, false);
  const pairOf = useMemo(() => pairs.follow(isDrawn ? rows : NO_ROWS), [pairs, isDrawn, rows]);
  return { list, rows, pairOf };
}
