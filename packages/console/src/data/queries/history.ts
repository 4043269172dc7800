/** Queries on filtered deliveries: counts, the oldest and newest delivery, and neighbors. */
import { timeOfId, PAGE_LIMIT } from '@sluice/kit/contract';
import type { DeliverySummary } from '@sluice/kit/sluice';
import { queryOptions } from '@tanstack/react-query';
import type { ListFilter } from '../live/liveCache.ts';
import { SUMMARY_REFRESH_MS, sluice } from './service.ts';
import { toDeliveryFilter, toListing } from './deliveries.ts';

/** Reads the ids of a delivery's neighbors in a filtered list; null at the ends of the list. */
export const neighborsQuery = (filter: ListFilter, id: string) =>
  queryOptions({
    queryKey: ['neighbors', filter, id],
    queryFn: async ({ signal }): Promise<{ older: string | null; newer: string | null }> => {
      // Several deliveries may share a millisecond, so a page is read in each direction. The
      // service compares the bounds with the times in the ids, which are slightly later than
      // `createdAt`.
      const query = { ...toListing(filter), limit: PAGE_LIMIT };
      const madeAt = timeOfId(id);
      const [older, newer] = await Promise.all([
        sluice.listDeliveries({ ...query, createdTo: madeAt }, { signal }),
        sluice.listDeliveries({ ...query, createdFrom: madeAt, order: 'oldest' }, { signal }),
      ]);
      return {
        older: older.result.find((each) => each.id < id)?.id ?? null,
        newer: newer.result.find((each) => each.id > id)?.id ?? null,
      };
    },
    // New deliveries can change the neighbors.
    staleTime: 0,
  });

/** Counts the deliveries for each value of each filter. */
export const countsQuery = (filter: ListFilter) =>
  queryOptions({
    queryKey: ['counts', filter],
    queryFn: ({ signal }) => sluice.getDeliveryCounts(toDeliveryFilter(filter), { signal }),
    staleTime: 0,
    refetchInterval: SUMMARY_REFRESH_MS,
  });

const endQuery = (filter: ListFilter, order: 'newest' | 'oldest') =>
  queryOptions({
    queryKey: ['end of deliveries', order, filter],
    queryFn: async ({ signal }): Promise<DeliverySummary | null> => {
      const query = { ...toListing(filter), order, limit: 1 };
      return (await sluice.listDeliveries(query, { signal })).result[0] ?? null;
    },
    staleTime: 0,
  });

/** Reads the oldest delivery that matches a filter; null if none does. */
export const oldestQuery = (filter: ListFilter) => endQuery(filter, 'oldest');

/** Reads the newest delivery that matches a filter; null if none does. */
export const newestQuery = (filter: ListFilter) => endQuery(filter, 'newest');
