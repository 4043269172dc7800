import type { DeliverySummary } from '@sluice/kit/sluice';
import { queryOptions } from '@tanstack/react-query';
import { toWhyMatched, type WhyMatched } from '../../body/whyMatched.ts';
import { sluice } from './service.ts';

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
