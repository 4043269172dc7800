import { PAGE_LIMIT } from '@sluice/kit/contract';
import type { Networks, NetworkType } from '@sluice/kit';
import type { ActivityQuery, ChildQuery, StreamSummary } from '@sluice/kit/sluice';
import { infiniteQueryOptions, queryOptions, type QueryClient } from '@tanstack/react-query';
import { START_BACKFILL, type Backfill } from '../../families/data.ts';
import { createBatch } from './batch.ts';
import { untilForbidden } from './untilForbidden.ts';
import { loadClient, SUMMARY_REFRESH_MS, sluice, queryKeys } from './service.ts';

/** A stream of any chain family, as the API returns it. */
export type AnyStream = Networks[NetworkType]['stream'];

/** The fields of a stream of any chain family. */
export type AnyStreamFields = Networks[NetworkType]['fields'];

/** Maximum number of streams in one `listTimelines` call; the service rejects more. */
const MAX_TIMELINES = 200;

export const streamsQuery = queryOptions({
  queryKey: queryKeys.streams,
  queryFn: ({ signal }) => sluice.listStreamSummaries({ signal }),
  refetchInterval: SUMMARY_REFRESH_MS,
});

/** Reads a stream with all of its fields. */
export const streamQuery = ({ id, family }: Pick<StreamSummary, 'id' | 'family'>) =>
  queryOptions({
    queryKey: queryKeys.stream(id),
    queryFn: async ({ signal }): Promise<AnyStream> => {
      const { streams } = await loadClient();
      return streams.get(id, { networkType: family, signal });
    },
  });

/** @param find the search text; an empty string matches all addresses. */
export const addressesQuery = (id: string, find: string) =>
  infiniteQueryOptions({
    queryKey: [...queryKeys.addresses(id), find],
    queryFn: ({ pageParam, signal }) =>
      sluice.listAddresses(
        id,
        { limit: PAGE_LIMIT, cursor: pageParam, ...(find !== '' && { find }) },
        { signal },
      ),
    // Shows the previous rows of this stream while a new search loads.
    placeholderData: (before, asked) => (asked?.queryKey[1] === id ? before : undefined),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.cursor,
  });

/** Reads the children of the factories of a stream. */
export const childrenQuery = (id: string, filter: Pick<ChildQuery, 'chain' | 'entry' | 'find'>) =>
  infiniteQueryOptions({
    queryKey: [...queryKeys.children(id), filter],
    queryFn: ({ pageParam, signal }) =>
      sluice.listChildren(id, { ...filter, limit: PAGE_LIMIT, cursor: pageParam }, { signal }),
    // Shows the previous rows of this stream while a new search loads.
    placeholderData: (before, asked) => (asked?.queryKey[1] === id ? before : undefined),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.cursor,
  });

export const coverageQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.coverage(id),
    queryFn: ({ signal }) => sluice.getCoverage(id, { signal }),
  });

/** Interval at which consumers are reloaded, because acknowledgements have no event. */
const CONSUMERS_REFRESH_MS = 5_000;

/**
 * Reads the consumers of a feed, until the service forbids it.
 * @param destination number of the stream's destination that is the feed; 0 for its `webhookUrl`
 */
export const consumersQuery = (id: string, destination: number) =>
  queryOptions({
    queryKey: [...queryKeys.consumers(id), destination],
    queryFn: ({ signal }) => sluice.listFeedConsumers(id, { destination }, { signal }),
    refetchInterval: untilForbidden(CONSUMERS_REFRESH_MS),
  });

/** Reads the additional destinations of a stream. */
export const destinationsQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.destinations(id),
    queryFn: ({ signal }) => sluice.listDestinations(id, { signal }),
  });

export const activityQuery = (query: ActivityQuery) =>
  queryOptions({
    queryKey: ['activity', query],
    queryFn: ({ signal }) => sluice.getActivity(query, { signal }),
    refetchInterval: SUMMARY_REFRESH_MS,
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

export const jobsQuery = (streamId: string) =>
  queryOptions({
    queryKey: [...queryKeys.jobs, streamId],
    queryFn: ({ signal }) => sluice.listJobs({ streamId }, { signal }),
  });

export const streamSecretQuery = (streamId: string) =>
  queryOptions({
    queryKey: ['stream secret', streamId],
    queryFn: ({ signal }) => sluice.getStreamSecret(streamId, { signal }),
    // Removes the secret from the cache as soon as no component uses it.
    gcTime: 0,
  });

/**
 * Reads when the previous secrets of a stream stop signing. Unlike reading the secrets, this needs
 * only the scope `streams:read`.
 */
export const streamSecretTimesQuery = (streamId: string) =>
  queryOptions({
    queryKey: ['stream secret times', streamId],
    queryFn: ({ signal }) => sluice.getStreamSecretTimes(streamId, { signal }),
    staleTime: 0,
  });

/** Reads the timeline of a stream. Timelines that are requested at the same time share one call. */
export const timelineQuery = (streamId: string) =>
  queryOptions({
    queryKey: [...queryKeys.chains, 'timeline', streamId],
    queryFn: () => readTimeline(streamId),
  });

const readTimeline = createBatch(MAX_TIMELINES, async (streamIds: string[]) => {
  const timelines = await sluice.listTimelines({ streamIds });
  return new Map(timelines.map((timeline) => [timeline.streamId, timeline]));
});

/**
 * Sends a test webhook by saving the unchanged URL, because the service tests a URL before it saves
 * it. Reads the complete URL from the stream, because lists mask the URL's credentials and query.
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

/** Updates fields of a stream. The service rejects fields of other chain families. */
export async function updateStream(
  { id, family }: Pick<StreamSummary, 'id' | 'family'>,
  changes: Record<string, unknown>,
): Promise<unknown> {
  const { streams } = await loadClient();
  return streams.update(id, { ...changes, networkType: family });
}

/** Pauses or resumes a stream. Shows the new status at once, and reverts it if the call fails. */
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
    // A second change to the same stream waits for the first.
    scope: { id: `status ${id}` },
    mutationFn: async (status: 'active' | 'paused') =>
      (await loadClient()).streams.setStatus(id, status, { networkType: family }),
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

/** Starts a background job that matches a stream against past blocks of one chain. */
export async function startBackfill(
  { id: streamId, family }: Pick<StreamSummary, 'id' | 'family'>,
  chainId: string,
  blocks: Omit<Backfill, 'streamId'>,
): Promise<void> {
  await START_BACKFILL[family](chainId, { ...blocks, streamId });
}
