import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { chainsQuery } from './queries/chains.ts';
import { mayBeOverdue } from '../chains/blockPace.ts';

const CHECK_MS = 1_000;
/** Minimum age of a chain's last report before its state is requested. */
const READ_MS = 2_000;

/**
 * Requests the state of the chains when a block is overdue, because a missing block causes no live
 * event.
 * @param isLive whether the live connection is open; a lost connection is shown elsewhere.
 */
export function useOverdueChains(isLive: boolean): void {
  const queryClient = useQueryClient();
  useEffect(() => {
    if (!isLive) return undefined;
    const check = (): void => {
      const now = Date.now();
      const chains = queryClient.getQueryData(chainsQuery.queryKey) ?? [];
      if (chains.some((chain) => mayBeOverdue(chain, now) && now - chain.reportedAt >= READ_MS)) {
        void queryClient.invalidateQueries(
          { queryKey: chainsQuery.queryKey, exact: true },
          { cancelRefetch: false },
        );
      }
    };
    const timer = setInterval(check, CHECK_MS);
    return () => clearInterval(timer);
  }, [queryClient, isLive]);
}
