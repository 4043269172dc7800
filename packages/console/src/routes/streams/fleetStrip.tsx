import type { StreamSummary } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { memo } from 'react';
import { activityQuery } from '../../data/queries/streams.ts';
import { chainCondition, isChainDown } from '../../words/condition.ts';
import { formatCount, formatDuration, formatShare } from '../../ui/text/format.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { River } from '../river/river.tsx';
import { ChainProblem } from '../../words/chainProblem.tsx';
import { Sparkline } from '../../ui/chart/sparkline.tsx';
import { BlockAge } from '../../chains/blockAge.tsx';
import { Status } from '../../ui/status.tsx';

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

/** Sums the hourly deliveries of all streams. */
function totalSeries(streams: readonly StreamSummary[]): number[] {
  const length = Math.max(0, ...streams.map(({ hourlyDelivered }) => hourlyDelivered.length));
  return Array.from({ length }, (_, index) =>
    sum(streams.map(({ hourlyDelivered }) => hourlyDelivered[index] ?? 0)),
  );
}

function Figure({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div className="flex items-baseline gap-2 whitespace-nowrap">
      <dt className="text-12 text-faint">{label}</dt>
      <dd className="font-mono text-14 font-medium">{children}</dd>
    </div>
  );
}

/** Minutes covered by each number of `deliveredSeries`. */
const SERIES_STEP_MINUTES = 5;

/** Formats the deliveries per minute in the newest step of the series, such as `412` or `0.4`. */
function rateOf(streams: readonly StreamSummary[]): string {
  const perMinute =
    sum(streams.map(({ deliveredSeries }) => deliveredSeries.at(-1) ?? 0)) / SERIES_STEP_MINUTES;
  return formatCount(perMinute < 10 ? Number(perMinute.toFixed(1)) : Math.round(perMinute));
}

/**
 * Returns the p95 of the duration of successful attempts of all streams, from the latest five
 * minutes with a success within the last hour; a dash if there was none.
 */
function useP95(): string {
  const { data } = useQuery(activityQuery({ step: 5, points: 12 }));
  const newest = data?.result.findLast(({ p95Ms }) => p95Ms !== null)?.p95Ms ?? null;
  return newest === null ? '–' : formatDuration(newest);
}

/** Maximum number of lanes. More would push the list of streams off the screen. */
const SHOWN_CHAINS = 4;

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
      <ChainProblem chain={chain} className="line-clamp-2 text-12" />
    </>
  );
});

/** Shows the totals of all streams in one line, then a lane for each chain, up to a limit. */
export function FleetStrip({
  streams,
  chains,
}: {
  streams: StreamSummary[] | undefined;
  chains: WatchedChain[] | undefined;
}) {
  const delivered = sum(streams?.map(({ delivered24h }) => delivered24h) ?? []);
  const redelivered = sum(streams?.map(({ redelivered24h }) => redelivered24h) ?? []);
  const failed = sum(streams?.map(({ failedAttempts24h }) => failedAttempts24h) ?? []);
  const p95 = useP95();
  const navigate = useNavigate();
  const isLong = chains !== undefined && chains.length > SHOWN_CHAINS;
  const shown = isLong ? byTrouble(chains).slice(0, SHOWN_CHAINS - 1) : chains;
  const rest = isLong ? byTrouble(chains).slice(SHOWN_CHAINS - 1) : [];
  const number = (value: number): string => (streams === undefined ? '–' : formatCount(value));
  return (
    <>
      <section aria-label="All streams" className="border-b border-line px-4 py-1.5">
        <dl className="flex min-h-8 flex-wrap items-center gap-x-6 gap-y-1">
          <Figure label="Delivered, 24 h">
            <span className="inline-flex items-center gap-3">
              {number(delivered)}
              {streams !== undefined && (
                <Sparkline
                  values={totalSeries(streams)}
                  label="Deliveries per hour, last 24 hours"
                />
              )}
            </span>
          </Figure>
          <Figure label="Delivered per minute">
            {streams === undefined ? '–' : rateOf(streams)}
          </Figure>
          <Figure label="Success rate">
            {streams === undefined ? '–' : formatShare(delivered + redelivered, failed)}
          </Figure>
          <Figure label="Failed attempts">
            <span className={failed > 0 ? 'text-bad' : undefined}>{number(failed)}</span>
          </Figure>
          <Figure label="p95">{p95}</Figure>
        </dl>
        {chains?.length === 0 && (
          <p className="py-1 text-warn">
            No chains yet. Start the service with <code className="data">--chain</code>.
          </p>
        )}
      </section>
      {shown !== undefined && shown.length > 0 && (
        <River
          chains={shown}
          Head={ChainFigure}
          onOpen={(search) => void navigate({ to: '/deliveries', search })}
        />
      )}
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
