import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { chainsQuery } from './queries/chains.ts';
import { mayBeOverdue } from '../chains/blockPace.ts';

const LOOK_MS = 1_000;
/** Between two readings of what the service reports. */
const READ_MS = 2_000;

/**
 * A block that does not come is no event. Where one is overdue by the clock of this page, the service is
 * asked whether it knows of a newer one.
 * @param isLive whether the service is heard; while it is not, the live connection reports that.
 */
export function useOverdueChains(isLive: boolean): void {
  const queryClient = useQueryClient();
  useEffect(() => {
    if (!isLive) return undefined;
    const look = (): void => {
      const now = Date.now();
      const chains = queryClient.getQueryData(chainsQuery.queryKey) ?? [];
      if (chains.some((chain) => mayBeOverdue(chain, now) && now - chain.reportedAt >= READ_MS)) {
        void queryClient.invalidateQueries(
          { queryKey: chainsQuery.queryKey, exact: true },
          { cancelRefetch: false },
        );
      }
    };
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, [queryClient, isLive]);
}
