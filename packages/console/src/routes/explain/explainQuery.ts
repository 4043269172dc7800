import { findDeliveryIds, isShortId } from '@sluice/kit/operator';
import { queryOptions } from '@tanstack/react-query';
import { sluice } from '../../data/queries/service.ts';

export const explainQuery = (question: string, chain: string | undefined) =>
  queryOptions({
    queryKey: ['explain', question, chain],
    queryFn: async ({ signal }) =>
      sluice.explain(await toWholeQuestion(question), { chain, signal }),
    // A cached explanation is outdated if a webhook has been sent in the meantime.
    staleTime: 0,
  });

const NAMED_IDS = 5;

/**
 * Expands a shortened delivery id; throws if several deliveries match it. Returns other queries,
 * and ids that match no delivery, unchanged.
 */
async function toWholeQuestion(question: string): Promise<string> {
  if (!isShortId(question)) return question;
  const ids = await findDeliveryIds(sluice, question);
  if (ids.length > 1) {
    const named = ids.slice(0, NAMED_IDS).join(', ');
    throw new Error(`${question} matches ${ids.length} deliveries, e.g. ${named}`);
  }
  return ids[0] ?? question;
}
