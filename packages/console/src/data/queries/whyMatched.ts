import type { DeliverySummary } from '@sluice/kit/sluice';
import { queryOptions } from '@tanstack/react-query';
import { toWhyMatched, type WhyMatched } from '../../body/whyMatched.ts';
import { sluice } from './service.ts';

/**
 * Delay before the request, so that the service does not read a block for each row while the user
 * steps quickly through a list.
 */
const HOVER_MS = 400;

/** Explains why each record of a delivery matched; null if no records are explained. */
export const whyMatchedQuery = ({ id, createdAt }: Pick<DeliverySummary, 'id' | 'createdAt'>) =>
  queryOptions({
    queryKey: ['why matched', id],
    queryFn: async ({ signal }): Promise<WhyMatched | null> => {
      await new Promise((resolve) => setTimeout(resolve, HOVER_MS));
      signal.throwIfAborted();
      return toWhyMatched(await sluice.explain(id, { signal }), createdAt);
    },
  });
