import type { DeliverySummary } from '@sluice/kit/sluice';
import { queryOptions } from '@tanstack/react-query';
import { toWhyMatched, type WhyMatched } from '../../body/whyMatched.ts';
import { sluice } from './service.ts';

/** Delay before a block is read, because users step through rows quickly. */
const HOVER_MS = 400;

/** Finds why each record of a delivery matched; null if its block is no longer available. */
export const whyMatchedQuery = ({ id, createdAt }: Pick<DeliverySummary, 'id' | 'createdAt'>) =>
  queryOptions({
    queryKey: ['why matched', id],
    queryFn: async ({ signal }): Promise<WhyMatched | null> => {
      await new Promise((resolve) => setTimeout(resolve, HOVER_MS));
      signal.throwIfAborted();
      return toWhyMatched(await sluice.explain(id, { signal }), createdAt);
    },
  });
