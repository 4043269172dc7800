import { timeOfId, PAGE_LIMIT } from '@sluice/kit/contract';
import type {
  DeliveryFilter,
  DeliveryPage,
  DeliverySummary,
  ListDeliveriesOptions,
} from '@sluice/kit/sluice';
import {
  infiniteQueryOptions,
  type QueryClient,
  queryOptions,
  type InfiniteData,
} from '@tanstack/react-query';
import { withDeliveries, withoutSearch, type ListFilter } from '../live/liveCache.ts';
import { changesSince } from '../live/recentChanges.ts';
import { SUMMARY_REFRESH_MS, sluice, queryKeys } from './service.ts';

export type DeliveryLists = InfiniteData<DeliveryPage, string | undefined>;

/** Drops the iterator that the client adds to a page, because each change would copy it. */
const readPage = ({ result, cursor, searchedTo }: DeliveryPage): DeliveryPage => ({
  result,
  ...(cursor !== undefined && { cursor }),
  ...(searchedTo !== undefined && { searchedTo }),
});

const withChanges = (
  page: DeliveryPage,
  changes: DeliverySummary[],
  filter: ListFilter,
): DeliveryPage =>
  withDeliveries({ pages: [page], pageParams: [] }, changes, filter).pages[0] ?? page;

/** Converts a list filter to list options of the service. A maximum age is relative to now. */
export const toListing = ({ sinceMs, ...filter }: ListFilter): ListDeliveriesOptions =>
  sinceMs === undefined
    ? filter
    : { ...filter, createdFrom: Math.max(filter.createdFrom ?? 0, Date.now() - sinceMs) };

/**
 * Converts a list filter without its search to a filter of the service. A maximum age is relative
 * to now.
 */
export const toDeliveryFilter = (filter: ListFilter): DeliveryFilter =>
  toListing(withoutSearch(filter));

export const deliveriesQuery = (filter: ListFilter) =>
  infiniteQueryOptions({
    queryKey: [...queryKeys.deliveries, filter],
    queryFn: async ({ pageParam, signal }): Promise<DeliveryPage> => {
      const askedAt = Date.now();
      const query = { limit: PAGE_LIMIT, ...toListing(filter), cursor: pageParam };
      const page = readPage(await sluice.listDeliveries(query, { signal }));
      const { result } = page;
      const changes = changesSince(askedAt);
      if (pageParam === undefined) return withChanges(page, changes, filter);
      const known = new Set(result.map(({ id }) => id));
      return withChanges(
        page,
        changes.filter(({ id }) => known.has(id)),
        filter,
      );
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.cursor,
    // Keeps TanStack Query from comparing every row with its previous version and copying it.
    structuralSharing: false,
  });

/**
 * Number of newer rows to load at once: less than a page, so that some visible rows stay on the
 * first page.
 */
const NEWER_ROWS = 90;

/**
 * Moves a list that ends at `createdTo` toward newer rows, and loads them.
 * @returns the new `createdTo`; undefined if the list now includes the newest delivery.
 */
export async function readNewer(
  queryClient: QueryClient,
  { createdTo = 0, ...filter }: ListFilter,
): Promise<number | undefined> {
  const { createdFrom = 0, ...query } = toListing(filter);
  const { result, cursor } = await sluice.listDeliveries({
    ...query,
    createdFrom: Math.max(createdFrom, createdTo + 1),
    order: 'oldest',
    limit: NEWER_ROWS,
  });
  const last = cursor === undefined ? undefined : result.at(-1);
  const until = last && timeOfId(last.id);
  const next = until === undefined ? filter : { ...filter, createdTo: until };
  // Loads the rows before the list moves, so that it is not blank in the meantime.
  await queryClient.prefetchInfiniteQuery(deliveriesQuery(next));
  return until;
}

/**
 * Reads a stream's newest delivery to its `webhookUrl` that waits for a retry; null if there is
 * none.
 */
export const lastTriedQuery = (streamId: string) =>
  queryOptions({
    queryKey: ['last tried', streamId],
    queryFn: async ({ signal }): Promise<DeliverySummary | null> => {
      const query = { streamId, destination: 0, state: 'retrying', limit: 1 } as const;
      return (await sluice.listDeliveries(query, { signal })).result[0] ?? null;
    },
    refetchInterval: SUMMARY_REFRESH_MS,
  });
