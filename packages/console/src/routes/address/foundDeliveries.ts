import { PAGE_LIMIT } from '@sluice/kit/contract';
import type { DeliverySummary } from '@sluice/kit/sluice';
import { queryOptions } from '@tanstack/react-query';
import { sluice } from '../../data/queries/service.ts';

/** Number of pages that are read for the activity. Each checks up to 20,000 deliveries. */
const PAGES = 10;

/** Finds the newest deliveries that contain an address, newest first. */
export const foundQuery = (address: string) =>
  queryOptions({
    queryKey: ['address', address],
    queryFn: async ({ signal }): Promise<{ found: DeliverySummary[]; isComplete: boolean }> => {
      const found: DeliverySummary[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < PAGES; page++) {
        const query = { find: address, limit: PAGE_LIMIT, ...(cursor !== undefined && { cursor }) };
        const read = await sluice.listDeliveries(query, { signal });
        found.push(...read.result);
        ({ cursor } = read);
        if (cursor === undefined) return { found, isComplete: true };
      }
      return { found, isComplete: false };
    },
    // Read once per visit, because a search of a large ledger takes long.
    staleTime: 0,
  });
