/**
 * Shows what the next delivery of a stream depends on: the next matching block, or a user action.
 */
import type { StreamSummary } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { chainsQuery } from '../../data/queries/chains.ts';
import { streamStatusMutation } from '../../data/queries/streams.ts';
import { estimateNextBlock } from '../../chains/blockPace.ts';
import { useNow } from '../../ui/text/clock.ts';
import { chainCondition, isChainDown, type IdleReason } from '../../words/condition.ts';
import { formatCount } from '../../ui/text/format.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Status } from '../../ui/status.tsx';

/** Returns the chains of a stream that this service follows. */
export function useFollowed({ chainIds }: Pick<StreamSummary, 'chainIds'>): WatchedChain[] {
  const { data: chains } = useQuery(chainsQuery);
  return chainIds.flatMap((id) => chains?.find((chain) => chain.id === id) ?? []);
}

/**
 * Shows the next block, such as `Ethereum Waiting for block 23,835,256 · ~9 s`, or the state of a
 * chain from which no block is expected.
 */
export function ChainWaits({ chain }: { chain: WatchedChain }) {
  const next = estimateNextBlock(chain.blocks, useNow());
  return (
    <p className="flex flex-wrap items-baseline gap-x-2">
      <span className="text-muted">{chain.name}</span>
      {chain.state !== 'live' || isChainDown(chain) || next === null ? (
        <Status condition={chainCondition(chain)} />
      ) : (
        <span>
          Waiting for block <span className="data">{formatCount(next.number)}</span>
          {next.inMs !== null && (
            <span className="data text-muted">
              {' · '}
              {next.inMs > 0 ? `~${Math.ceil(next.inMs / 1000)} s` : 'due'}
            </span>
          )}
        </span>
      )}
    </p>
  );
}

const WORDS: Readonly<Record<IdleReason, string>> = {
  paused: 'The stream is paused: new blocks are not matched.',
  terminated: 'The stream was terminated: new blocks are not matched.',
  'without addresses': 'The stream has no addresses yet, so it matches nothing.',
};

/** Explains why no blocks are matched against the stream and, if possible, offers a fix. */
export function NothingWatched({
  stream,
  standstill,
}: {
  stream: StreamSummary;
  standstill: IdleReason;
}) {
  const setStatus = useMutation(streamStatusMutation(useQueryClient(), stream));
  const resume = (): void => setStatus.mutate('active');
  return (
    <div>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="text-muted">{WORDS[standstill]}</span>
        {standstill === 'paused' && <Button onClick={resume}>Resume stream</Button>}
        {standstill === 'without addresses' && (
          <Link
            from="/streams/$streamId"
            to="/streams/$streamId"
            search={{ tab: 'addresses' }}
            className={buttonClass('plain')}
          >
            Add addresses
          </Link>
        )}
      </p>
      {setStatus.isError && (
        <ErrorPanel what="Couldn't resume the stream" error={setStatus.error} onRetry={resume} />
      )}
    </div>
  );
}
