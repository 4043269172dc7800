import type { StreamSummary } from '@sluice/kit/sluice';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { chainsQuery } from '../../data/queries/chains.ts';
import { deliveriesQuery } from '../../data/queries/deliveries.ts';
import { isChainDown } from '../../words/condition.ts';
import { toRecentDeliveries } from '../../data/fleet.ts';
import { formatCount } from '../../ui/text/format.ts';
import { useMedia } from '../../ui/media.ts';
import type { Timeline, WatchedChain } from '../../chains/timeline.ts';
import { BlockAge } from '../../chains/blockAge.tsx';
import { BlockTimeline } from '../../chains/blockTimeline.tsx';
import { StreamTimeline } from './streamTimeline.tsx';

/** Number of blocks in a timeline. Two timelines of this length fit side by side. */
const LENGTH = 56;
const NARROW_LENGTH = 34;

const NO_BLOCKS: Timeline = { ticks: [], unconfirmed: 0 };

const LEGEND = [
  ['bg-text', 'delivered'],
  ['border border-text', 'unconfirmed'],
  ['bg-info', 'waiting'],
  ['bg-bad', 'failed'],
  ['bg-reorg', 'reorged'],
] as const;

/** Shows the stream's matches in the last blocks of the chains that this service follows. */
export function StreamTimelines({ stream }: { stream: StreamSummary }) {
  const { data: chains } = useQuery(chainsQuery);
  const { data } = useInfiniteQuery(deliveriesQuery({ streamId: stream.id }));
  const wide = useMedia('(min-width: 640px)');
  const length = wide ? LENGTH : NARROW_LENGTH;
  const { rows, since } = useMemo(() => toRecentDeliveries(data), [data]);
  // Until the chains have loaded, reserves the space for each chain of the stream.
  const shown = stream.chainIds
    .map((id) => ({ id, chain: chains?.find((each) => each.id === id) }))
    .filter(({ chain }) => chains === undefined || chain !== undefined);
  if (shown.length === 0) return null;
  return (
    <section aria-label="Blocks" className="border-b border-line px-4 py-3">
      <ul className="flex flex-wrap gap-x-10 gap-y-3">
        {shown.map(({ id, chain }) => (
          <li
            key={id}
            data-stale={(chain !== undefined && isChainDown(chain)) || undefined}
            className="min-w-0"
          >
            {chain === undefined ? (
              <BlockTimeline
                size="wide"
                timeline={NO_BLOCKS}
                length={length}
                label="Loading blocks"
              />
            ) : (
              <StreamTimeline
                size="wide"
                chain={chain}
                streamId={stream.id}
                deliveries={rows}
                since={since}
                length={length}
                label={`Matches in the last ${length} blocks of ${chain.name}`}
              />
            )}
            <p className="data mt-1 flex justify-between gap-4 text-faint">
              <span>{chain?.name ?? id}</span>
              {chain !== undefined && <Position chain={chain} />}
            </p>
          </li>
        ))}
      </ul>
      <p className="mt-2 flex flex-wrap gap-x-4 text-11 text-faint">
        {LEGEND.map(([look, word]) => (
          <span key={word} className="inline-flex items-center gap-1.5">
            <span aria-hidden="true" className={`size-2 ${look}`} />
            {word}
          </span>
        ))}
        <span>height: records</span>
      </p>
    </section>
  );
}

function Position({ chain }: { chain: WatchedChain }) {
  const { head, checkpoint, confirmedUpTo } = chain;
  if (head === null) return <span>no head yet</span>;
  const lag = checkpoint === null ? 0 : Math.max(0, head - checkpoint);
  return (
    <span>
      {confirmedUpTo !== null && `confirmed ${formatCount(confirmedUpTo)} · `}head{' '}
      {formatCount(head)}
      {lag > 0 && <span className="text-warn"> −{formatCount(lag)}</span>}
      <BlockAge chain={chain} className="ml-2" />
    </span>
  );
}
