import type { ResponseTimesQuery } from '@sluice/kit/sluice';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { SUMMARY_REFRESH_MS, sluice } from './service.ts';

/** Reads the attempts of a stream or a receiver over time, by duration and result. */
export const responseTimesQuery = (query: ResponseTimesQuery) =>
  queryOptions({
    queryKey: ['activity', 'response times', query],
    queryFn: ({ signal }) => sluice.getResponseTimes(query, { signal }),
    refetchInterval: SUMMARY_REFRESH_MS,
    // Keeps the map on the screen while another period loads.
    placeholderData: keepPreviousData,
  });
