import type { StreamSummary } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { activityQuery } from '../../data/queries/streams.ts';
import { formatCount, formatDuration, formatShare } from '../../ui/text/format.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { SHOWN_CHAINS } from './shownChains.ts';
import { Sparkline } from '../../ui/chart/sparkline.tsx';

const FleetRiver = lazy(async () => ({
  default: (await import('./fleetRiver.tsx')).FleetRiver,
}));

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

/**
 * Reserves the height of the river while its code loads, so that the list below stays where it is.
 * The controls take two lines on phones and are taller for touch.
 */
function RiverSpace({ chains }: { chains: number }) {
  const lanes = chains > SHOWN_CHAINS ? SHOWN_CHAINS - 1 : chains;
  return (
    <div
      className="h-[calc(var(--controls)+var(--lanes)*var(--lane))] border-b border-line [--controls:41px] [--lane:70px] max-sm:[--controls:69px] max-sm:[--lane:89px] pointer-coarse:[--controls:57px] max-sm:pointer-coarse:[--controls:101px]"
      style={{ '--lanes': lanes } as React.CSSProperties}
    />
  );
}

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
      {chains !== undefined && chains.length > 0 && (
        <Suspense fallback={<RiverSpace chains={chains.length} />}>
          <FleetRiver chains={chains} />
        </Suspense>
      )}
    </>
  );
}
