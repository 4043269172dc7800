/** Reads the data of the river, and builds a lane per chain. */
import type { ChainCoverage, ChainGap, Reorg } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import {
  blocksQuery,
  chainActivityQuery,
  gapsQuery,
  reorgsQuery,
} from '../../data/queries/chains.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { useMinute } from '../../ui/text/clock.ts';
import { HOLE_WORDS } from '../../words/holes.ts';
import { type MissedBlocks, toBlockLane } from './blockLane.ts';
import { MIN_CELL } from './geometry.ts';
import type { Lane } from './lane.ts';
import type { Level } from './levels.ts';
import { toStepLane } from './stepLane.ts';

export interface RiverLane {
  chain: WatchedChain;
  lane: Lane;
}

/**
 * Returns a lane per chain at a zoom level.
 * @param streamId shows only the matches of this stream. Default: all streams
 * @param coverage the holes of the stream
 * @param width width of a lane in pixels
 */
export function useRiverLanes({
  chains,
  streamId,
  coverage,
  level,
  width,
}: {
  chains: readonly WatchedChain[];
  streamId: string | undefined;
  coverage: readonly ChainCoverage[];
  level: Level;
  width: number;
}): { lanes: RiverLane[]; error: Error | null; refetch: () => void } {
  const only = chains.length === 1 ? chains[0]!.id : undefined;
  const of = { ...(streamId !== undefined && { streamId }) };
  const isOfBlocks = level.unit === 'block';
  const blocks = useQuery({
    ...blocksQuery({
      ...of,
      ...(only !== undefined && { chain: only }),
      limit: isOfBlocks ? level.blocks : 1,
    }),
    enabled: isOfBlocks,
  });
  const activity = useQuery({
    ...chainActivityQuery({
      ...of,
      ...(level.unit === 'step' && { step: level.step, points: level.points }),
    }),
    enabled: !isOfBlocks,
  });
  const reorgs = useQuery(reorgsQuery(only)).data;
  const gaps = useQuery(gapsQuery(only)).data;
  const now = useMinute();
  const most = Math.max(1, Math.floor(width / MIN_CELL));
  const lanes = useMemo(() => {
    const listed = new Map(blocks.data?.map((each) => [each.chainId, each.blocks]));
    return chains.map((chain): RiverLane => {
      const sources = {
        reorgs: ofChain<Reorg>(reorgs, chain),
        gaps: ofChain<ChainGap>(gaps, chain),
        missed: coverage
          .filter(({ chainId }) => chainId === chain.id)
          .flatMap(({ holes }) => holes)
          .map(({ from, to, reason }): MissedBlocks => ({ from, to, why: HOLE_WORDS[reason] })),
      };
      if (level.unit === 'block') {
        const from = {
          ...sources,
          blocks: listed.get(chain.id) ?? [],
          isOfStream: streamId !== undefined,
        };
        return { chain, lane: toBlockLane(chain, from, Math.min(level.blocks, most)) };
      }
      const steps = activity.data ?? {
        from: now - level.points * level.step * 60_000,
        points: level.points,
        stepMinutes: level.step,
        isPartial: false,
        chains: [],
      };
      return { chain, lane: toStepLane(chain, steps, { ...sources, now }, most) };
    });
  }, [chains, blocks.data, activity.data, reorgs, gaps, coverage, level, most, now, streamId]);
  const read = isOfBlocks ? blocks : activity;
  return { lanes, error: read.error, refetch: () => void read.refetch() };
}

const ofChain = <T extends { chainId: string }>(
  list: readonly T[] | undefined,
  { id }: WatchedChain,
): T[] => list?.filter(({ chainId }) => chainId === id) ?? [];
