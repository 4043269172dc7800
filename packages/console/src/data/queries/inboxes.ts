import { PAGE_LIMIT } from '@sluice/kit/contract';
import type { InboxPage } from '@sluice/kit/sluice';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { sluice, queryKeys } from './service.ts';

export const inboxesQuery = queryOptions({
  queryKey: queryKeys.inboxes,
  queryFn: ({ signal }) => sluice.listInboxes({ signal }),
});

export const inboxRequestsQuery = (name: string) =>
  infiniteQueryOptions({
    queryKey: [...queryKeys.inboxes, name],
    queryFn: async ({ pageParam, signal }): Promise<InboxPage> => {
      const query = { limit: PAGE_LIMIT, cursor: pageParam };
      return sluice.listInboxRequests(name, query, { signal });
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.cursor,
  });

export const inboxRequestQuery = (name: string, id: string) =>
  queryOptions({
    queryKey: ['inbox request', name, id],
    queryFn: ({ signal }) => sluice.getInboxRequest(name, id, { signal }),
  });
