/** What a stream without deliveries waits for: its chains' next blocks, or somebody who lets it look at any. */
import type { StreamSummary } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { chainsQuery } from '../../data/queries/chains.ts';
import { streamStatusMutation } from '../../data/queries/streams.ts';
import { nextBlock } from '../../chains/blockPace.ts';
import { useNow } from '../../ui/text/clock.ts';
import { chainCondition, isChainDown, type Standstill } from '../../words/condition.ts';
import { formatCount } from '../../ui/text/format.ts';
import type { WatchedChain } from '../../chains/tape.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Status } from '../../ui/status.tsx';

/** Those of a stream's chains that this service follows. */
export function useFollowed({ chainIds }: Pick<StreamSummary, 'chainIds'>): WatchedChain[] {
  const { data: chains } = useQuery(chainsQuery);
  return chainIds.flatMap((id) => chains?.find((chain) => chain.id === id) ?? []);
}

/** `Ethereum Waiting for block 23,835,256 · ~9 s`, or what keeps the chain from having one. */
export function ChainWaits({ chain }: { chain: WatchedChain }) {
  const next = nextBlock(chain.blocks, useNow());
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

const WORDS: Readonly<Record<Standstill, string>> = {
  paused: 'The stream is paused: blocks pass without being held against it.',
  terminated: 'The stream was terminated: blocks pass without being held against it.',
  'without addresses': 'The stream has no addresses yet, so it watches nothing.',
};

/** Why no block makes a delivery, and the way out. */
export function NothingWatched({
  stream,
  standstill,
}: {
  stream: StreamSummary;
  standstill: Standstill;
}) {
  const setStatus = useMutation(streamStatusMutation(useQueryClient(), stream));
  const resume = (): void => setStatus.mutate('active');
  return (
    <div>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="text-muted">{WORDS[standstill]}</span>
        {standstill === 'paused' && <Button onClick={resume}>Resume it</Button>}
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
        <ErrorPanel
          what="The stream could not be resumed"
          error={setStatus.error}
          onRetry={resume}
        />
      )}
    </div>
  );
}
