import type { ActivityQuery, BlocksQuery } from '@sluice/kit/sluice';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { watchChains } from '../live/liveCache.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { SUMMARY_REFRESH_MS, sluice, queryKeys } from './service.ts';

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

/** Reads the newest blocks of one chain or of all, with the matches of one stream or of all. */
export const blocksQuery = (query: BlocksQuery) =>
  queryOptions({
    queryKey: [...queryKeys.blocks, query],
    queryFn: ({ signal }) => sluice.listBlocks(query, { signal }),
    // Keeps the blocks on the screen while more are loaded.
    placeholderData: keepPreviousData,
  });

/** Reads matches and attempts over time by chain, of one stream or of all. */
export const chainActivityQuery = (query: ActivityQuery) =>
  queryOptions({
    queryKey: ['chain activity', query],
    queryFn: ({ signal }) => sluice.getChainActivity(query, { signal }),
    refetchInterval: SUMMARY_REFRESH_MS,
  });

/** @param chain Default: all chains */
export const reorgsQuery = (chain?: string) =>
  queryOptions({
    queryKey: [...queryKeys.chains, 'reorgs', chain ?? ''],
    queryFn: ({ signal }) => sluice.listReorgs({ chain }, { signal }),
    refetchInterval: CHAIN_LOG_REFRESH_MS,
  });

/** @param chain Default: all chains */
export const gapsQuery = (chain?: string) =>
  queryOptions({
    queryKey: [...queryKeys.chains, 'gaps', chain ?? ''],
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

/**
 * Finds the blocks of a stream's deliveries on one chain that were created in a period. Returns no
 * blocks if there were no deliveries.
 * @param period inclusive, in Unix milliseconds
 */
export async function blocksOfPeriod({
  streamId,
  chainId,
  from,
  until,
}: {
  streamId: string;
  chainId: string;
  from: number;
  until: number;
}): Promise<{ blockFrom?: number; blockTo?: number }> {
  const query = { streamId, chainId, createdFrom: from, createdTo: until, limit: 1 };
  const [oldest, newest] = await Promise.all([
    sluice.listDeliveries({ ...query, order: 'oldest' }),
    sluice.listDeliveries(query),
  ]);
  const [first, last] = [oldest.result[0]?.blockNumber, newest.result[0]?.blockNumber];
  return first === undefined || last === undefined
    ? {}
    : { blockFrom: Math.min(first, last), blockTo: Math.max(first, last) };
}
