import { Link, useNavigate } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { memo } from 'react';
import { BlockAge } from '../../chains/blockAge.tsx';
import type { WatchedChain } from '../../chains/timeline.ts';
import { Status } from '../../ui/status.tsx';
import { formatCount } from '../../ui/text/format.ts';
import { ChainProblem } from '../../words/chainProblem.tsx';
import { chainCondition, isChainDown } from '../../words/condition.ts';
import { River } from '../river/river.tsx';
import { SHOWN_CHAINS } from './shownChains.ts';

const rankOf = (chain: WatchedChain): number =>
  Number(chain.state === 'live' && !isChainDown(chain));

/** Puts chains that are down or not live first, and keeps the order otherwise. */
const byTrouble = (chains: readonly WatchedChain[]): WatchedChain[] =>
  chains.toSorted((a, b) => rankOf(a) - rankOf(b));

/** Counts the hidden chains by condition, such as `3 down, 39 live`. */
function describeRest(chains: readonly WatchedChain[]): string {
  const states = Map.groupBy(chains, (chain) => chainCondition(chain).word);
  return [...states].map(([word, { length }]) => `${formatCount(length)} ${word}`).join(', ');
}

/** Shows the state of a chain, its head, and how many blocks it is behind. */
const ChainFigure = memo(function ChainFigure({ chain }: { chain: WatchedChain }) {
  const { head, checkpoint } = chain;
  const lag = head === null || checkpoint === null ? null : Math.max(0, head - checkpoint);
  const down = isChainDown(chain);
  return (
    <>
      <div className="flex flex-wrap items-baseline gap-x-4 sm:block">
        <p className="flex items-baseline gap-2">
          <span className="data font-medium" data-tip={`${chain.name} ${chain.id}`}>
            {chain.code}
          </span>
          <Status condition={chainCondition(chain)} className="text-12" />
        </p>
        <p className={clsx('data whitespace-nowrap', down && 'text-faint')}>
          <span data-tip="Newest known block">{head === null ? '–' : formatCount(head)}</span>
          {lag !== null && !down && (
            <span
              data-tip="Blocks behind the head"
              className={lag === 0 ? 'text-faint' : 'text-warn'}
            >
              {lag === 0 ? ' ±0' : ` −${formatCount(lag)}`}
              <BlockAge chain={chain} className="ml-2" />
            </span>
          )}
        </p>
      </div>
      {/* Two lines fit into the height of the lane. */}
      <ChainProblem chain={chain} className="line-clamp-2 text-12 sm:leading-3.5" />
    </>
  );
});

/** Shows a lane for each chain, up to a limit, and counts the rest. */
export function FleetRiver({ chains }: { chains: WatchedChain[] }) {
  const navigate = useNavigate();
  const isLong = chains.length > SHOWN_CHAINS;
  const shown = isLong ? byTrouble(chains).slice(0, SHOWN_CHAINS - 1) : chains;
  const rest = isLong ? byTrouble(chains).slice(SHOWN_CHAINS - 1) : [];
  return (
    <>
      <River
        chains={shown}
        Head={ChainFigure}
        onOpen={(search) => void navigate({ to: '/deliveries', search })}
      />
      {rest.length > 0 && (
        <p className="border-b border-line px-4 py-1.5">
          <Link
            to="/chains"
            className="inline-flex min-h-6 items-baseline gap-2 text-12 text-muted hover:underline"
          >
            {formatCount(rest.length)} more chains
            <span className="text-faint">{describeRest(rest)}</span>
          </Link>
        </p>
      )}
    </>
  );
}
