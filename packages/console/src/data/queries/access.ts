import { PAGE_LIMIT } from '@sluice/kit/contract';
import type { AuditPage } from '@sluice/kit/sluice';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { loadClient, SUMMARY_REFRESH_MS, sluice, queryKeys } from './service.ts';

export const keysQuery = queryOptions({
  queryKey: queryKeys.keys,
  queryFn: ({ signal }) => sluice.listApiKeys({ signal }),
  staleTime: 0,
});

export const alertUrlsQuery = queryOptions({
  queryKey: queryKeys.alertUrls,
  queryFn: ({ signal }) => sluice.listAlertUrls({ signal }),
  staleTime: 0,
});

export const publicKeysQuery = queryOptions({
  queryKey: queryKeys.publicKeys,
  queryFn: ({ signal }) => sluice.listPublicKeys({ signal }),
  staleTime: 0,
});

export const expiryQuery = queryOptions({
  queryKey: ['expiry'],
  queryFn: ({ signal }) => sluice.getExpiry({ signal }),
  refetchInterval: SUMMARY_REFRESH_MS,
});

export const aboutQuery = queryOptions({
  queryKey: ['about'],
  queryFn: ({ signal }) => sluice.getAbout({ signal }),
  staleTime: 0,
});

/** The environment, which does not change while the page is open. */
export const environmentQuery = queryOptions({
  ...aboutQuery,
  staleTime: Infinity,
  select: ({ environment }) => environment,
});

/**
 * Whether nodes and alert URLs can be changed in the console. This does not change while the page
 * is open.
 */
export const nodeChangesQuery = queryOptions({
  ...aboutQuery,
  staleTime: Infinity,
  select: ({ allowsNodeChanges }) => allowsNodeChanges,
});

/** Base URLs of block explorers by chain id, which do not change while the page is open. */
export const explorersQuery = queryOptions({
  ...aboutQuery,
  staleTime: Infinity,
  select: ({ explorers }) => explorers,
});

export const auditQuery = infiniteQueryOptions({
  queryKey: ['audit'],
  queryFn: async ({ pageParam, signal }): Promise<AuditPage> =>
    sluice.listAudit({ limit: PAGE_LIMIT, cursor: pageParam }, { signal }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.cursor,
  staleTime: 0,
});

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: async ({ signal }) => (await loadClient()).settings.read({ signal }),
  // The settings contain the secret, so they are dropped as soon as no page shows them.
  gcTime: 0,
});
