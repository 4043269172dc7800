import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { WatchedChain } from '../../chains/timeline.ts';
import { DRAFT_FAMILIES } from '../../families/draftFamilies.ts';
import { contractQuery } from '../../data/queries/chains.ts';
import type { StreamDraft } from '../streamForm/draft/draft.ts';

/**
 * Sends the payments and token transfers of an account if it is the draft's only address, because
 * an account emits no logs of its own, and excludes native payments for a contract. The user's own
 * choice takes precedence.
 * @param addresses the addresses of the draft, in lowercase.
 * @param isGiven whether a recipe is selected; recipes set what is sent.
 */
export function useAccountRules(
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
  const isContract = isAsked ? data?.isContract : undefined;
  // Stays the same object while the draft does not change, because the form detects edits after
  // sending by comparing objects.
  const settled = useMemo(() => withRules(draft, isContract), [draft, isContract]);
  return {
    draft: settled,
    /** Must be called with the draft after each edit, to detect whether the user chose what is sent. */
    onChange: (next: StreamDraft): void => {
      if (SENT.some((field) => next[field] !== settled[field])) setChosen(true);
    },
    /** Waits for a pending lookup, and returns the draft to send. */
    async settle(): Promise<StreamDraft> {
      if (!isAsked) return settled;
      // If the lookup fails, the draft is sent unchanged.
      const found = await queryClient.fetchQuery(query).catch(() => undefined);
      return withRules(draft, found?.isContract);
    },
  };
}

/** Fields that say what is sent. */
const SENT = ['includeNativeTxs', 'rules'] as const;

function withRules(draft: StreamDraft, isContract: boolean | undefined): StreamDraft {
  if (isContract === undefined) return draft;
  if (!isContract) return DRAFT_FAMILIES[draft.family].withAccount(draft);
  return draft.includeNativeTxs ? { ...draft, includeNativeTxs: false } : draft;
}
