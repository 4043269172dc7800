import type { StreamSummary } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { blocksOfPeriod, chainsQuery } from '../../data/queries/chains.ts';
import { coverageQuery } from '../../data/queries/streams.ts';
import { parseStreamSearch } from '../../data/search.ts';
import { LaneHead } from '../river/laneHead.tsx';
import { River, type RiverSearch } from '../river/river.tsx';

/** Shows the stream's matches in the chains that this service follows. */
export function StreamRiver({ stream }: { stream: StreamSummary }) {
  const navigate = useNavigate({ from: '/streams/$streamId' });
  const { data: chains } = useQuery(chainsQuery);
  const { data: coverage } = useQuery(coverageQuery(stream.id));
  const followed = useMemo(
    () => chains?.filter(({ id }) => stream.chainIds.includes(id)) ?? [],
    [chains, stream.chainIds],
  );
  if (followed.length === 0) return null;
  const backfill = async ({ chain, from, until, ...blocks }: RiverSearch): Promise<void> => {
    const range =
      from === undefined || until === undefined || chain === undefined
        ? blocks
        : await blocksOfPeriod({ streamId: stream.id, chainId: chain, from, until });
    await navigate({ search: parseStreamSearch({ tab: 'coverage', chain, ...range }) });
  };
  return (
    <River
      chains={followed}
      stream={stream}
      coverage={coverage}
      Head={LaneHead}
      onOpen={(search) => void navigate({ search: parseStreamSearch({ ...search }) })}
      onBackfill={(search) => void backfill(search)}
    />
  );
}
