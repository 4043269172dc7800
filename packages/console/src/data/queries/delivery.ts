import { SLUICE_ROUTES } from '@sluice/kit/contract';
import type { DeliverySummary, SendCopy } from '@sluice/kit/sluice';
import { queryOptions, type QueryClient } from '@tanstack/react-query';
import { fetchBody, type SentBody } from '../../body/bodyWorker.ts';
import { loadClient, sluice, queryKeys } from './service.ts';

export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.delivery(id),
    queryFn: ({ signal }) => sluice.getDelivery(id, { signal }),
  });

/** Time to cache a body that no page shows, for back navigation and prefetching. */
const BODY_KEPT_MS = 5_000;

/** Reads the body. It contains the attempt number, so it is reloaded together with its delivery. */
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

/** Reads the text of the body, to edit it. */
export const deliveryTextQuery = (id: string) =>
  queryOptions({
    queryKey: [...queryKeys.delivery(id), 'text'],
    queryFn: ({ signal }) => sluice.getDeliveryBody(id, { signal }),
    // A reload would not change the text that is being edited.
    staleTime: Infinity,
    gcTime: 0,
  });

/** Sends an edited copy of a delivery to an inbox or a test URL. */
export const sendCopyMutation = (id: string) => ({
  mutationFn: (copy: SendCopy) => sluice.sendCopy(id, copy),
});

/** Stops a held delivery, or the retries of one. The delivery then counts as failed. */
export const stopMutation = (queryClient: QueryClient, id: string) => ({
  mutationFn: () => sluice.stopDelivery(id),
  onSettled: () => void queryClient.invalidateQueries({ queryKey: queryKeys.delivery(id) }),
});

/**
 * Sends a delivery now: releases a held one, and replays any other. Then reloads it without waiting
 * for the live event.
 */
export const sendMutation = (queryClient: QueryClient) => ({
  mutationFn: async ({
    id,
    streamId,
    state,
  }: Pick<DeliverySummary, 'id' | 'streamId' | 'state'>): Promise<void> => {
    if (state === 'held') await sluice.releaseDelivery(id);
    else await (await loadClient()).history.replay({ id, streamId });
  },
  onSettled: (_data: unknown, _error: unknown, { id }: { id: string }) =>
    void queryClient.invalidateQueries({ queryKey: queryKeys.delivery(id) }),
});
