/** What the console asks of the service. Same origin; the session cookie travels by itself. */
import {
  createClient,
  isSluiceError,
  type AptosNetwork,
  type AptosStream,
  type Stream,
} from '@sluice/kit';
import { SLUICE_ROUTES } from '@sluice/kit/contract';
import {
  createSluiceClient,
  type ActivityQuery,
  type AuditPage,
  type DeliveryFilter,
  type DeliveryPage,
  type DeliverySummary,
  type InboxPage,
  type Replay,
  type StreamSummary,
} from '@sluice/kit/sluice';
import {
  infiniteQueryOptions,
  MutationCache,
  QueryCache,
  QueryClient,
  queryOptions,
  type InfiniteData,
} from '@tanstack/react-query';
import { createBatch } from './batch.ts';
import { dropBody, fetchBody, type SentBody } from './bodyWorker.ts';
import { timeOfId, watchChains, withDeliveries, withLatest, type ListFilter } from './liveCache.ts';
import { changesSince } from './recentChanges.ts';
import type { WatchedChain } from './tape.ts';
import { toWhyMatched, type WhyMatched } from './whyMatched.ts';

const baseUrl = location.origin;
export const sluice = createSluiceClient({ baseUrl });

export const client = createClient({ baseUrl, apiKey: null });

/** The service's own limits for one page, and for one call. */
const PAGE_ROWS = 100;
const MOST_TAPES = 200;

/** Counts over 24 hours slide without an event; half a minute is finer than anyone reads them. */
const SUMMARY_REFRESH_MS = 30_000;
/** What happened to a chain is told by no event but a change of its state. */
const CHAIN_LOG_REFRESH_MS = 5_000;

export const queryKeys = {
  streams: ['streams'],
  chains: ['chains'],
  deliveries: ['deliveries'],
  delivery: (id: string) => ['delivery', id],
  stream: (id: string) => ['stream', id],
  addresses: (id: string) => ['addresses', id],
  coverage: (id: string) => ['coverage', id],
  jobs: ['jobs'],
  inboxes: ['inboxes'],
  keys: ['keys'],
  replays: ['replays'],
  replay: ['replay'],
} as const;

export const streamsQuery = queryOptions({
  queryKey: queryKeys.streams,
  queryFn: ({ signal }) => sluice.listStreamSummaries({ signal }),
  refetchInterval: SUMMARY_REFRESH_MS,
});

/** The stream with all of its fields. */
export const streamQuery = ({ id, family }: Pick<StreamSummary, 'id' | 'family'>) =>
  queryOptions({
    queryKey: queryKeys.stream(id),
    queryFn: ({ signal }): Promise<Stream | AptosStream> =>
      family === 'aptos'
        ? client.streams.get(id, { networkType: 'aptos', signal })
        : client.streams.get(id, { signal }),
  });

/** @param find all of them where it is empty. */
export const addressesQuery = (id: string, find: string) =>
  infiniteQueryOptions({
    queryKey: [...queryKeys.addresses(id), find],
    queryFn: ({ pageParam, signal }) =>
      sluice.listAddresses(
        id,
        { limit: PAGE_ROWS, cursor: pageParam, ...(find !== '' && { find }) },
        { signal },
      ),
    // Another search of the same stream: its rows stay until they are others.
    placeholderData: (before, asked) => (asked?.queryKey[1] === id ? before : undefined),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.cursor,
  });

export const coverageQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.coverage(id),
    queryFn: ({ signal }) => sluice.getCoverage(id, { signal }),
  });

export const activityQuery = (query: ActivityQuery) =>
  queryOptions({
    queryKey: ['activity', query],
    queryFn: ({ signal }) => sluice.getActivity(query, { signal }),
    refetchInterval: SUMMARY_REFRESH_MS,
  });

/** What is at an address; it stays. */
export const contractQuery = (chainId: string, address: string) =>
  queryOptions({
    queryKey: ['contract', chainId, address],
    queryFn: ({ signal }) => sluice.getContract(chainId, address, { signal }),
    staleTime: Infinity,
    // Beside what is typed: nobody waits for it.
    retry: false,
  });

/** The address a name of ENS stands for at the moment. */
export const nameQuery = (name: string) =>
  queryOptions({
    queryKey: ['name', name],
    queryFn: ({ signal }) => sluice.resolveName(name, { signal }),
    retry: false,
  });

export const breakdownQuery = (query: ActivityQuery) =>
  queryOptions({
    queryKey: ['breakdown', query],
    queryFn: ({ signal }) => sluice.getActivityBreakdown(query, { signal }),
    refetchInterval: SUMMARY_REFRESH_MS,
  });

export const streamChangesQuery = (id: string) =>
  queryOptions({
    queryKey: ['changes', id],
    queryFn: ({ signal }) => sluice.listStreamChanges(id, { signal }),
    refetchInterval: SUMMARY_REFRESH_MS,
  });

export const reorgsQuery = (chain: string) =>
  queryOptions({
    queryKey: [...queryKeys.chains, 'reorgs', chain],
    queryFn: ({ signal }) => sluice.listReorgs({ chain }, { signal }),
    refetchInterval: CHAIN_LOG_REFRESH_MS,
  });

export const gapsQuery = (chain: string) =>
  queryOptions({
    queryKey: [...queryKeys.chains, 'gaps', chain],
    queryFn: ({ signal }) => sluice.listGaps({ chain }, { signal }),
    refetchInterval: CHAIN_LOG_REFRESH_MS,
  });

export const jobsQuery = (streamId: string) =>
  queryOptions({
    queryKey: [...queryKeys.jobs, streamId],
    queryFn: ({ signal }) => sluice.listJobs({ streamId }, { signal }),
  });

export const replaysQuery = queryOptions({
  queryKey: queryKeys.replays,
  queryFn: ({ signal }) => sluice.listReplays({ signal }),
});

export const replayQuery = (id: string) =>
  queryOptions({
    queryKey: [...queryKeys.replay, id],
    queryFn: ({ signal }) => sluice.getReplay(id, { signal }),
  });

/** When what it sent came to its end. */
export const replayProgressQuery = (id: string) =>
  queryOptions({
    queryKey: [...queryKeys.replay, id, 'progress'],
    queryFn: ({ signal }) => sluice.getReplayProgress(id, { signal }),
    staleTime: 0,
  });

/** Ends it; what is due already is sent. */
export const cancelReplayMutation = (queryClient: QueryClient, id: string) => ({
  mutationFn: () => sluice.cancelReplay(id),
  onSuccess: (cancelled: Replay) => showReplay(queryClient, cancelled),
});

/** As the service tells of it. */
export function showReplay(queryClient: QueryClient, replay: Replay): void {
  queryClient.setQueryData(replayQuery(replay.id).queryKey, replay);
  queryClient.setQueryData(
    replaysQuery.queryKey,
    (replays) => replays && withLatest(replays, replay),
  );
}

export const inboxesQuery = queryOptions({
  queryKey: queryKeys.inboxes,
  queryFn: ({ signal }) => sluice.listInboxes({ signal }),
});

export const inboxRequestsQuery = (name: string) =>
  infiniteQueryOptions({
    queryKey: [...queryKeys.inboxes, name],
    queryFn: async ({ pageParam, signal }): Promise<InboxPage> => {
      const query = { limit: PAGE_ROWS, cursor: pageParam };
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

/** Rows are run through by key; only of the one that is stayed at is its block read. */
const STAY_MS = 400;

/** Why each record of a delivery is in it; null where its block cannot be read any more. */
export const whyMatchedQuery = ({ id, createdAt }: Pick<DeliverySummary, 'id' | 'createdAt'>) =>
  queryOptions({
    queryKey: ['why matched', id],
    queryFn: async ({ signal }): Promise<WhyMatched | null> => {
      await new Promise((resolve) => setTimeout(resolve, STAY_MS));
      signal.throwIfAborted();
      return toWhyMatched(await sluice.explain(id, { signal }), createdAt);
    },
  });

export const keysQuery = queryOptions({
  queryKey: queryKeys.keys,
  queryFn: ({ signal }) => sluice.listApiKeys({ signal }),
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

/** It stays what it is as long as the page is there. */
export const environmentQuery = queryOptions({
  ...aboutQuery,
  staleTime: Infinity,
  select: ({ environment }) => environment,
});

export const auditQuery = infiniteQueryOptions({
  queryKey: ['audit'],
  queryFn: async ({ pageParam, signal }): Promise<AuditPage> =>
    sluice.listAudit({ limit: PAGE_ROWS, cursor: pageParam }, { signal }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.cursor,
  staleTime: 0,
});

export const streamSecretQuery = (streamId: string) =>
  queryOptions({
    queryKey: ['stream secret', streamId],
    queryFn: ({ signal }) => sluice.getStreamSecret(streamId, { signal }),
    // Forgotten as soon as no page shows it.
    gcTime: 0,
  });

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: ({ signal }) => client.settings.read({ signal }),
  // It holds the secret: forgotten as soon as no page shows it.
  gcTime: 0,
});

export const chainsQuery = queryOptions({
  queryKey: queryKeys.chains,
  queryFn: async ({ client: queryClient, signal }): Promise<WatchedChain[]> =>
    watchChains(
      await sluice.listChains({ signal }),
      queryClient.getQueryData<WatchedChain[]>(['chains']),
      Date.now(),
    ),
});

export type DeliveryLists = InfiniteData<DeliveryPage, string | undefined>;

const withChanges = (
  page: DeliveryPage,
  changes: DeliverySummary[],
  filter: ListFilter,
): DeliveryPage =>
  withDeliveries({ pages: [page], pageParams: [] }, changes, filter).pages[0] ?? page;

/** As the service is asked, now. */
export const toDeliveryFilter = ({ sinceMs, ...filter }: ListFilter): DeliveryFilter =>
  sinceMs === undefined ? filter : { ...filter, createdFrom: Date.now() - sinceMs };

/** Those beside a delivery in the list of a filter; null at the ends of the list. */
export const neighboursQuery = (filter: ListFilter, id: string) =>
  queryOptions({
    queryKey: ['neighbours', filter, id],
    queryFn: async ({ signal }): Promise<{ older: string | null; newer: string | null }> => {
      // Several may have been made in the same millisecond. Bounds are those of ids, which are made
      // some time after `createdAt` is noted.
      const query = { ...toDeliveryFilter(filter), limit: PAGE_ROWS };
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
    // New ones come.
    staleTime: 0,
  });

/** How many deliveries there are of each kind. */
export const facetsQuery = (filter: ListFilter) =>
  queryOptions({
    queryKey: ['facets', filter],
    queryFn: ({ signal }) => sluice.getDeliveryFacets(toDeliveryFilter(filter), { signal }),
    staleTime: 0,
    refetchInterval: SUMMARY_REFRESH_MS,
  });

const endQuery = (filter: ListFilter, order: 'newest' | 'oldest') =>
  queryOptions({
    queryKey: ['end of deliveries', order, filter],
    queryFn: async ({ signal }): Promise<DeliverySummary | null> => {
      const query = { ...toDeliveryFilter(filter), order, limit: 1 };
      return (await sluice.listDeliveries(query, { signal })).result[0] ?? null;
    },
    staleTime: 0,
  });

/** The first delivery of those that a filter finds; null where it finds none. */
export const oldestQuery = (filter: ListFilter) => endQuery(filter, 'oldest');

/** The last one. */
export const newestQuery = (filter: ListFilter) => endQuery(filter, 'newest');

export const deliveriesQuery = (filter: ListFilter) =>
  infiniteQueryOptions({
    queryKey: [...queryKeys.deliveries, filter],
    queryFn: async ({ pageParam, signal }): Promise<DeliveryPage> => {
      const askedAt = Date.now();
      const query = { limit: PAGE_ROWS, ...toDeliveryFilter(filter), cursor: pageParam };
      const { result, cursor } = await sluice.listDeliveries(query, { signal });
      const page = cursor === undefined ? { result } : { result, cursor };
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
    // It would hold every row against the one that stood there before, and copy it.
    structuralSharing: false,
  });

/** So many newer rows that some of those on screen stay in the first page. */
const NEWER_ROWS = 90;

/**
 * Reads on from a list that ends at `createdTo` towards the newest.
 * @returns until when the list must go to hold them; undefined where nothing newer is left out.
 */
export async function readNewer(
  queryClient: QueryClient,
  { createdTo = 0, ...filter }: ListFilter,
): Promise<number | undefined> {
  const { createdFrom = 0, ...query } = toDeliveryFilter(filter);
  const { result, cursor } = await sluice.listDeliveries({
    ...query,
    createdFrom: Math.max(createdFrom, createdTo + 1),
    order: 'oldest',
    limit: NEWER_ROWS,
  });
  const last = cursor === undefined ? undefined : result.at(-1);
  const until = last && timeOfId(last.id);
  const next = until === undefined ? filter : { ...filter, createdTo: until };
  // Drawn at once instead of after a blank.
  await queryClient.prefetchInfiniteQuery(deliveriesQuery(next));
  return until;
}

/** The newest delivery of a stream that was tried and waits; null where none does. */
export const lastTriedQuery = (streamId: string) =>
  queryOptions({
    queryKey: ['last tried', streamId],
    queryFn: async ({ signal }): Promise<DeliverySummary | null> => {
      const query = { streamId, state: 'pending', attemptsFrom: 1, limit: 1 } as const;
      return (await sluice.listDeliveries(query, { signal })).result[0] ?? null;
    },
    refetchInterval: SUMMARY_REFRESH_MS,
  });

/** What became of a stream's newest blocks; of all streams that are shown at once in one request. */
export const tapeQuery = (streamId: string) =>
  queryOptions({
    queryKey: [...queryKeys.chains, 'tape', streamId],
    queryFn: () => readTape(streamId),
  });

const readTape = createBatch(MOST_TAPES, async (streamIds: string[]) => {
  const tapes = await sluice.listTapes({ streamIds });
  return new Map(tapes.map((tape) => [tape.streamId, tape]));
});

/** The service knows nothing of this id, or it can be none. */
export const isNone = (error: unknown): boolean =>
  isSluiceError(error, 'not_found') || isSluiceError(error, 'validation_failed');

export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.delivery(id),
    queryFn: ({ signal }) => sluice.getDelivery(id, { signal }),
  });

/** After no page shows it: for whoever steps back to it, and until one that was asked for early is shown. */
const BODY_KEPT_MS = 5_000;

/** Each attempt tells its number in it. */
export const deliveryBodyQuery = (id: string) =>
  queryOptions({
    queryKey: [...queryKeys.delivery(id), 'body'],
    queryFn: async ({ signal }): Promise<SentBody> => {
      const url = SLUICE_ROUTES.getDeliveryBody.path.replace('{id}', encodeURIComponent(id));
      return (await fetchBody(id, url, signal)) ?? sluice.getDeliveryBody(id, { signal });
    },
    structuralSharing: false,
    gcTime: BODY_KEPT_MS,
  });

/** Gives up a delivery that waits for its next attempt. */
export const stopMutation = (queryClient: QueryClient, id: string) => ({
  mutationFn: () => sluice.stopDelivery(id),
  onSettled: () => void queryClient.invalidateQueries({ queryKey: queryKeys.delivery(id) }),
});

/**
 * The URL as it is, set once more: the service tries it with a test webhook before it says yes. The
 * stream itself is asked for it, since lists leave out the secrets in it.
 */
export const testWebhookMutation = (
  queryClient: QueryClient,
  stream: Pick<StreamSummary, 'id' | 'family'>,
) => ({
  mutationFn: async (): Promise<void> => {
    const { webhookUrl } = await queryClient.fetchQuery(streamQuery(stream));
    await updateStream(stream, { webhookUrl });
  },
});

/** Any field of the stream's family; the service says what does not fit. */
export function updateStream(
  { id, family }: Pick<StreamSummary, 'id' | 'family'>,
  changes: Record<string, unknown>,
): Promise<unknown> {
  return family === 'aptos'
    ? client.streams.update(id, { ...changes, networkType: 'aptos' })
    : client.streams.update(id, changes);
}

/** Sends a delivery again; its row says so before the event comes. */
export const replayMutation = (queryClient: QueryClient) => ({
  mutationFn: ({ id, streamId }: Pick<DeliverySummary, 'id' | 'streamId'>) =>
    client.history.replay({ id, streamId }),
  onSettled: (_data: unknown, _error: unknown, { id }: { id: string }) =>
    void queryClient.invalidateQueries({ queryKey: queryKeys.delivery(id) }),
});

/** Pauses or resumes at once on the screen, and puts it back when the service refuses. */
export function streamStatusMutation(
  queryClient: QueryClient,
  { id, family }: Pick<StreamSummary, 'id' | 'family'>,
) {
  const show = (status: StreamSummary['status']): void => {
    queryClient.setQueryData(streamsQuery.queryKey, (streams) =>
      streams?.map((stream) => (stream.id === id ? { ...stream, status } : stream)),
    );
  };
  return {
    // Pressed twice, the second waits for the first.
    scope: { id: `status ${id}` },
    mutationFn: (status: 'active' | 'paused') =>
      client.streams.setStatus(id, status, { networkType: family }),
    onMutate: async (status: 'active' | 'paused') => {
      await queryClient.cancelQueries({ queryKey: queryKeys.streams });
      const before = queryClient
        .getQueryData(streamsQuery.queryKey)
        ?.find((stream) => stream.id === id)?.status;
      show(status);
      return { before };
    },
    onError: (
      _error: Error,
      _status: unknown,
      context: { before: StreamSummary['status'] | undefined } | undefined,
    ) => {
      if (context?.before !== undefined) show(context.before);
    },
    onSettled: () => void queryClient.invalidateQueries({ queryKey: queryKeys.streams }),
  };
}

/** Matches a range of past blocks with a stream, in the background. */
export async function startBackfill(
  { id: streamId, family }: Pick<StreamSummary, 'id' | 'family'>,
  { chainId, from, to }: { chainId: string; from: number; to: number },
): Promise<void> {
  const blocks = { streamId, blockFrom: from, blockTo: to };
  if (family === 'aptos') {
    await sluice.createAptosBackfill(chainId.replace(/^aptos:/, '') as AptosNetwork, blocks);
  } else {
    await client.streams.createHistoricalJob({ ...blocks, chainId });
  }
}

/** @param onUnauthorized runs for any call that is refused because the session has ended. */
export function createQueryClient(onUnauthorized: () => void): QueryClient {
  const onError = (error: Error): void => {
    if (isSluiceError(error, 'unauthorized')) onUnauthorized();
  };
  const queryCache = new QueryCache({ onError });
  queryCache.subscribe(({ type, query: { queryKey } }) => {
    const [of, id, what] = queryKey;
    if (type === 'removed' && of === 'delivery' && what === 'body') dropBody(id as string);
  });
  return new QueryClient({
    queryCache,
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        // Live events keep what is cached current; a lost connection refetches by itself.
        staleTime: Infinity,
        refetchOnWindowFocus: false,
        // The kit has already repeated what may be repeated.
        retry: false,
        // A service on this machine is reachable while the browser believes itself offline.
        networkMode: 'always',
      },
      mutations: { networkMode: 'always', retry: false },
    },
  });
}
