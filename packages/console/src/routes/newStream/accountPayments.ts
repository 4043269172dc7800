import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { WatchedChain } from '../../chains/timeline.ts';
import { contractQuery } from '../../data/queries/chains.ts';
import type { StreamDraft } from '../streamForm/draft/draft.ts';

/**
 * Includes native payments if the only address is an account, because most payments of an account
 * emit no log. The user's own choice is kept.
 * @param addresses of the draft, in lowercase.
 */
export function useAccountPayments(
  draft: StreamDraft,
  addresses: readonly string[],
  chain: WatchedChain | undefined,
) {
  const queryClient = useQueryClient();
  const [isChosen, setChosen] = useState(false);
  const [address, ...others] = addresses;
  const isOne = draft.family === 'evm' && address !== undefined && others.length === 0;
  const query = contractQuery(chain?.id ?? '', address ?? '');
  const isAsked = isOne && chain !== undefined && !isChosen;
  const { data } = useQuery({ ...query, enabled: isAsked });
  const included = isAsked && data !== undefined ? !data.isContract : draft.includeNativeTxs;
  // Stays the same object while nothing changes, so that an edit after sending can be detected.
  const settled = useMemo(() => withPayments(draft, included), [draft, included]);
  return {
    draft: settled,
    /** Called with each edit of the returned draft. */
    onChange: (next: StreamDraft): void => {
      if (next.includeNativeTxs !== included) setChosen(true);
    },
    /** Returns the draft to send, after a pending lookup. */
    async settle(): Promise<StreamDraft> {
      if (!isAsked) return settled;
      // Without an answer, the draft is sent as it is.
      const found = await queryClient.fetchQuery(query).catch(() => undefined);
      return found === undefined ? draft : withPayments(draft, !found.isContract);
    },
  };
}

const withPayments = (draft: StreamDraft, isIncluded: boolean): StreamDraft =>
  draft.includeNativeTxs === isIncluded ? draft : { ...draft, includeNativeTxs: isIncluded };
