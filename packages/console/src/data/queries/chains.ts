import { queryOptions } from '@tanstack/react-query';
import { watchChains } from '../live/liveCache.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { sluice, queryKeys } from './service.ts';

/**
 * Interval at which gaps and reorgs are reloaded, because live events do not contain their entries.
 */
const CHAIN_LOG_REFRESH_MS = 5_000;

/** Reads whether an address is a contract, and its token metadata. The result is never reloaded. */
export const contractQuery = (chainId: string, address: string) =>
  queryOptions({
    queryKey: ['contract', chainId, address],
    queryFn: ({ signal }) => sluice.getContract(chainId, address, { signal }),
    staleTime: Infinity,
    // The result is only additional information, so a failed request is not retried.
    retry: false,
  });

/** Reads the ABI of a contract from the ABI source of its chain. */
export const abiQuery = (chainId: string, address: string) =>
  queryOptions({
    queryKey: ['abi', chainId, address],
    queryFn: ({ signal }) => sluice.getContractAbi(chainId, address, { signal }),
    staleTime: Infinity,
    retry: false,
  });

/** Reads the address that an ENS name currently resolves to. */
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
