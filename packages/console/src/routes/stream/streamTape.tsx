import type { DeliverySummary } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { tapeQuery } from '../../data/queries/streams.ts';
import { streamTape, type WatchedChain } from '../../chains/tape.ts';
import { BlockTape } from '../../chains/blockTape.tsx';

/** One stream's matches in the last blocks of one chain. */
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
  /** The stream's newest, and the time before which some may be missing. */
  deliveries: readonly DeliverySummary[];
  since: number;
  length: number;
  size: 'row' | 'wide';
  label: string;
}) {
  const { data: told } = useQuery(tapeQuery(streamId));
  const past = told?.chains.find(({ chainId }) => chainId === chain.id);
  const tape = streamTape(chain, { deliveries, since, past }, length);
  return <BlockTape size={size} tape={tape} length={length} label={label} />;
}
