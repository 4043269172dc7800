import type { DeliverySummary } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { timelineQuery } from '../../data/queries/streams.ts';
import { streamTimeline, type WatchedChain } from '../../chains/timeline.ts';
import { BlockTimeline } from '../../chains/blockTimeline.tsx';

/** Shows a stream's matches in the last blocks of one chain. */
export function StreamTimeline({
  chain,
  streamId,
  deliveries,
  since,
  length,
  label,
}: {
  chain: WatchedChain;
  streamId: string;
  /** The stream's newest deliveries. Deliveries created before `since` may be missing. */
  deliveries: readonly DeliverySummary[];
  since: number;
  length: number;
  label: string;
}) {
  const { data: recorded } = useQuery(timelineQuery(streamId));
  const past = recorded?.chains.find(({ chainId }) => chainId === chain.id);
  const timeline = streamTimeline(chain, { deliveries, since, past }, length);
  return <BlockTimeline timeline={timeline} length={length} label={label} />;
}
