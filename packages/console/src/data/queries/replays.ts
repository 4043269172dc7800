import type { Replay } from '@sluice/kit/sluice';
import { queryOptions, type QueryClient } from '@tanstack/react-query';
import { withLatest } from '../live/liveCache.ts';
import { sluice, queryKeys } from './service.ts';

export const replaysQuery = queryOptions({
  queryKey: queryKeys.replays,
  queryFn: ({ signal }) => sluice.listReplays({ signal }),
});

export const replayQuery = (id: string) =>
  queryOptions({
    queryKey: [...queryKeys.replay, id],
    queryFn: ({ signal }) => sluice.getReplay(id, { signal }),
  });

/** Reads the finished deliveries of a replay over time. */
export const replayProgressQuery = (id: string) =>
  queryOptions({
    queryKey: [...queryKeys.replay, id, 'progress'],
    queryFn: ({ signal }) => sluice.getReplayProgress(id, { signal }),
    staleTime: 0,
  });

/** Cancels a replay; deliveries that are already due are still sent. */
export const cancelReplayMutation = (queryClient: QueryClient, id: string) => ({
  mutationFn: () => sluice.cancelReplay(id),
  onSuccess: (cancelled: Replay) => showReplay(queryClient, cancelled),
});

/** Updates the cache with the state of a replay. */
export function showReplay(queryClient: QueryClient, replay: Replay): void {
  queryClient.setQueryData(replayQuery(replay.id).queryKey, replay);
  queryClient.setQueryData(
    replaysQuery.queryKey,
    (replays) => replays && withLatest(replays, replay),
  );
}
