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

/** Reads how many deliveries of a replay succeeded or failed in each time step. */
export const replayProgressQuery = (id: string) =>
  queryOptions({
    queryKey: [...queryKeys.replay, id, 'progress'],
    queryFn: ({ signal }) => sluice.getReplayProgress(id, { signal }),
    staleTime: 0,
  });

/** Cancels a replay. Deliveries that it has already queued are still sent. */
export const cancelReplayMutation = (queryClient: QueryClient, id: string) => ({
  mutationFn: () => sluice.cancelReplay(id),
  onSuccess: (canceled: Replay) => showReplay(queryClient, canceled),
});

/** Updates the cached replay, and its entry in the list of replays. */
export function showReplay(queryClient: QueryClient, replay: Replay): void {
  queryClient.setQueryData(replayQuery(replay.id).queryKey, replay);
  queryClient.setQueryData(
    replaysQuery.queryKey,
    (replays) => replays && withLatest(replays, replay),
  );
}
