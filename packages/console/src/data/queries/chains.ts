import { queryOptions } from '@tanstack/react-query';
import { watchChains } from '../live/liveCache.ts';
import type { WatchedChain } from '../../chains/tape.ts';
import { sluice, queryKeys } from './service.ts';

/** What happened to a chain is told by no event but a change of its state. */
const CHAIN_LOG_REFRESH_MS = 5_000;

/** What is at an address; it stays. */
export const contractQuery = (chainId: string, address: string) =>
  queryOptions({
    queryKey: ['contract', chainId, address],
    queryFn: ({ signal }) => sluice.getContract(chainId, address, { signal }),
    staleTime: Infinity,
    // Beside what is typed: nobody waits for it.
    retry: false,
  });

/** The address a name of ENS stands for at the moment. */
export const nameQuery = (name: string) =>
  queryOptions({
    queryKey: ['name', name],
    queryFn: ({ signal }) => sluice.resolveName(name, { signal }),
    retry: false,
  });

export const reorgsQuery = (chain: string) =>
  queryOptions({
    queryKey: [...queryKeys.chains, 'reorgs', chain],
    queryFn: ({ signal }) => sluice.listReorgs({ chain }, { signal }),
    refetchInterval: CHAIN_LOG_REFRESH_MS,
  });

export const gapsQuery = (chain: string) =>
  queryOptions({
    queryKey: [...queryKeys.chains, 'gaps', chain],
    queryFn: ({ signal }) => sluice.listGaps({ chain }, { signal }),
    refetchInterval: CHAIN_LOG_REFRESH_MS,
  });

export const chainsQuery = queryOptions({
  queryKey: queryKeys.chains,
  queryFn: async ({ client: queryClient, signal }): Promise<WatchedChain[]> =>
    watchChains(
      await sluice.listChains({ signal }),
      queryClient.getQueryData<WatchedChain[]>(['chains']),
      Date.now(),
    ),
});
