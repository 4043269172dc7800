import type { DeliverySummary } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { tapeQuery } from '../../data/queries/streams.ts';
import { streamTape, type WatchedChain } from '../../chains/tape.ts';
import { BlockTape } from '../../chains/blockTape.tsx';

/** Shows a stream's matches in the last blocks of one chain. */
export function StreamTape({
  chain,
  streamId,
  deliveries,
  since,
  length,
  size,
  label,
}: {
  chain: WatchedChain;
  streamId: string;
  /** The stream's newest deliveries; before `since`, some may be missing. */
  deliveries: readonly DeliverySummary[];
  since: number;
  length: number;
  size: 'row' | 'wide';
  label: string;
}) {
  const { data: recorded } = useQuery(tapeQuery(streamId));
  const past = recorded?.chains.find(({ chainId }) => chainId === chain.id);
  const tape = streamTape(chain, { deliveries, since, past }, length);
  return <BlockTape size={size} tape={tape} length={length} label={label} />;
}
