/** Queries of one receiver, named by its host or inbox. */
import type { Incident } from '@sluice/kit/sluice';
import { queryOptions } from '@tanstack/react-query';
import { SUMMARY_REFRESH_MS, sluice } from './service.ts';

const INCIDENTS = 20;

export const certificateQuery = (receiver: string) =>
  queryOptions({
    queryKey: ['activity', 'certificate', receiver],
    queryFn: ({ signal }) => sluice.getReceiverCertificate(receiver, { signal }),
    refetchInterval: SUMMARY_REFRESH_MS,
  });

/** The newest incidents of the receiver, open and ended ones. */
export const receiverIncidentsQuery = (receiver: string) =>
  queryOptions({
    queryKey: ['incidents', receiver],
    queryFn: async ({ signal }): Promise<Incident[]> =>
      (await sluice.listIncidents({ receiver, limit: INCIDENTS }, { signal })).result,
    refetchInterval: SUMMARY_REFRESH_MS,
  });
