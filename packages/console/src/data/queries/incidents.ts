/** Query of incidents. */
import type { Incident } from '@sluice/kit/sluice';
import { queryOptions } from '@tanstack/react-query';
import { sluice } from './service.ts';

const REFRESH_MS = 10_000;
/** Enough for the open incidents and those of a day, unless a receiver fails again and again. */
const LIMIT = 50;

/** The newest incidents, open and ended ones. */
export const incidentsQuery = queryOptions({
  queryKey: ['incidents'],
  queryFn: async ({ signal }): Promise<Incident[]> =>
    (await sluice.listIncidents({ limit: LIMIT }, { signal })).result,
  refetchInterval: REFRESH_MS,
});
