import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { WatchedChain } from '../../chains/timeline.ts';
import { DRAFT_FAMILIES } from '../../families/draftFamilies.ts';
import { contractQuery } from '../../data/queries/chains.ts';
import type { StreamDraft } from '../streamForm/draft/draft.ts';

/**
 * Includes native payments if the draft's only address is an account, and excludes them for a
 * contract, because most payments of an account emit no log. The user's own choice takes
 * precedence.
 * @param addresses the addresses of the draft, in lowercase.
 * @param isGiven whether a recipe is selected; recipes set whether native payments are included.
 */
export function useAccountPayments(
  draft: StreamDraft,
  addresses: readonly string[],
  chain: WatchedChain | undefined,
  isGiven: boolean,
) {
  const queryClient = useQueryClient();
  const [isChosen, setChosen] = useState(false);
  const [address, ...others] = addresses;
  const isOne =
    DRAFT_FAMILIES[draft.family].hasContracts && address !== undefined && others.length === 0;
  const query = contractQuery(chain?.id ?? '', address ?? '');
  const isAsked = isOne && chain !== undefined && !isChosen && !isGiven;
  const { data } = useQuery({ ...query, enabled: isAsked });
  const included = isAsked && data !== undefined ? !data.isContract : draft.includeNativeTxs;
  // Stays the same object while the draft does not change, because the form detects edits after
  // sending by comparing objects.
  const settled = useMemo(() => withPayments(draft, included), [draft, included]);
  return {
    draft: settled,
    /**
     * Must be called with the draft after each edit, to detect whether the user has set native
     * payments.
     */
    onChange: (next: StreamDraft): void => {
      if (next.includeNativeTxs !== included) setChosen(true);
    },
    /** Waits for a pending lookup, and returns the draft to send. */
    async settle(): Promise<StreamDraft> {
      if (!isAsked) return settled;
      // If the lookup fails, the draft is sent unchanged.
      const found = await queryClient.fetchQuery(query).catch(() => undefined);
      return found === undefined ? draft : withPayments(draft, !found.isContract);
    },
  };
}

const withPayments = (draft: StreamDraft, isIncluded: boolean): StreamDraft =>
  draft.includeNativeTxs === isIncluded ? draft : { ...draft, includeNativeTxs: isIncluded };
