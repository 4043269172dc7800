import type { Activity, ActivityPoint, StreamSummary } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import {
  activityQuery,
  breakdownQuery,
  streamChangesQuery,
} from '../../../data/queries/streams.ts';
import { indexAt, PERCENT } from '../../../ui/chart/chart.ts';
import { idleReasonOf } from '../../../words/condition.ts';
import {
  formatCount,
  formatDateTime,
  formatDuration,
  formatPercent,
  formatShare,
  percentOf,
} from '../../../ui/text/format.ts';
import { METRICS_SPANS } from '../../../data/search.ts';
import { placeChanges } from './streamChanges.ts';
import { ErrorPanel } from '../../../words/errorPanel.tsx';
import { Segments } from '../../../ui/form/segments.tsx';
import { type Notch, type Series, TimeChart } from '../../../ui/chart/timeChart.tsx';
import { Breakdown } from './breakdown.tsx';
import { ChangeList } from './changeList.tsx';
import { ChainWaits, NothingWatched, useFollowed } from '../nextDelivery.tsx';

/** Charts a stream's deliveries over time. All charts share one axis and one cursor. */
export function MetricsTab({ stream }: { stream: StreamSummary }) {
  const { span = 'day' } = useSearch({ from: '/frame/streams/$streamId' });
  const navigate = useNavigate({ from: '/streams/$streamId' });
  const { step, points } = METRICS_SPANS.find(({ value }) => value === span) ?? METRICS_SPANS[1];
  const asked = { streamId: stream.id, step, points };
  const activity = useQuery(activityQuery(asked));
  const breakdown = useQuery(breakdownQuery(asked));
  const changes = useQuery(streamChangesQuery(stream.id));
  // A stream that has never sent anything is shown as empty even before the response arrives.
  const isEmpty =
    activity.data === undefined ? stream.lastDeliveryAt === null : !wasTried(activity.data.result);
  return (
    <section aria-label="Metrics" className="px-4 py-4">
      <div className="flex flex-wrap items-center gap-x-6 gap-y-2">
        <Segments
          label="Period"
          options={METRICS_SPANS}
          value={span}
          onChange={(chosen) =>
            void navigate({
              search: { tab: 'metrics', ...(chosen !== 'day' && { span: chosen }) },
              replace: true,
            })
          }
        />
        {isEmpty && <NoData stream={stream} />}
      </div>
      {activity.isError && (
        <ErrorPanel
          what="Couldn't load metrics"
          error={activity.error}
          onRetry={() => void activity.refetch()}
          stale={activity.data !== undefined}
        />
      )}
      {(activity.data !== undefined || activity.isPending) && (
        <Charts
          activity={activity.data}
          noData={stream.lastDeliveryAt === null ? 'no data yet' : 'no data'}
          notches={
            activity.data === undefined ? [] : placeChanges(changes.data ?? [], activity.data)
          }
        />
      )}
      {breakdown.isError && (
        <ErrorPanel
          what="Couldn't load the breakdown"
          error={breakdown.error}
          onRetry={() => void breakdown.refetch()}
          stale={breakdown.data !== undefined}
        />
      )}
      {!activity.isPending && breakdown.data !== undefined && (
        <Breakdown breakdown={breakdown.data} />
      )}
      {changes.isError && (
        <ErrorPanel
          what="Couldn't load the changes"
          error={changes.error}
          onRetry={() => void changes.refetch()}
          stale={changes.data !== undefined}
        />
      )}
      {!activity.isPending && !breakdown.isPending && changes.data !== undefined && (
        <ChangeList changes={changes.data} stream={stream} />
      )}
    </section>
  );
}

const sum = (points: readonly ActivityPoint[], of: (point: ActivityPoint) => number): number =>
  points.reduce((total, point) => total + of(point), 0);

const succeededAttempts = ({ delivered, redelivered }: ActivityPoint): number =>
  delivered + redelivered;

const wasTried = (points: readonly ActivityPoint[]): boolean =>
  points.some((point) => succeededAttempts(point) + point.failedAttempts > 0);

/** Shows when to expect the first point, or why there is none. */
function NoData({ stream }: { stream: StreamSummary }) {
  const followed = useFollowed(stream);
  const standstill = idleReasonOf(stream);
  if (standstill !== null) return <NothingWatched stream={stream} standstill={standstill} />;
  return (
    <div className="flex min-w-80 flex-1 flex-wrap gap-x-4">
      <p className="text-muted">
        {stream.lastDeliveryAt === null
          ? 'The charts start at the next block that matches.'
          : 'Nothing was sent in this period. The next block that matches adds a point.'}
      </p>
      {followed.map((chain) => (
        <ChainWaits key={chain.id} chain={chain} />
      ))}
    </div>
  );
}

const FAILURES = [
  { label: '5xx', of: ({ failures }: ActivityPoint) => failures['5xx'], color: 'bad' },
  { label: '4xx', of: ({ failures }: ActivityPoint) => failures['4xx'], color: 'warn' },
  { label: '3xx', of: ({ failures }: ActivityPoint) => failures['3xx'], color: 'info' },
  { label: 'no response', of: ({ failures }: ActivityPoint) => failures.none, color: 'reorg' },
] as const;

const NO_POINTS: readonly ActivityPoint[] = [];

function Charts({
  activity,
  notches,
  noData,
}: {
  /** Undefined while it loads; empty frames reserve the space. */
  activity: Activity | undefined;
  notches: readonly Notch[];
  /** Text shown in the frames without data. */
  noData: string;
}) {
  const [cursor, setCursor] = useState<number | null>(null);
  const result = activity?.result ?? NO_POINTS;
  const delivered = sum(result, (point) => point.delivered);
  const failedAttempts = sum(result, (point) => point.failedAttempts);
  const success = formatShare(sum(result, succeededAttempts), failedAttempts);
  const retries = sum(result, (point) => point.retries);
  const at = result[cursor ?? result.length - 1]?.at;
  const line = (
    label: string,
    of: (point: ActivityPoint) => number | null,
    color: string,
    variant: Series['variant'] = 'line',
  ): Series => ({ label, values: result.map(of), color: `var(--color-${color})`, variant });
  const isEmpty = activity !== undefined && !wasTried(result);
  const instead = activity === undefined ? '' : isEmpty ? noData : undefined;
  const common = { cursor, notches, instead };
  const changed = notches.filter(({ index }) => index === cursor).map(({ words }) => words);
  return (
    <>
      <p className="mt-3 flex flex-wrap gap-x-6 max-sm:min-h-10">
        {activity === undefined ? (
          <span className="animate-late text-faint">Loading</span>
        ) : (
          <>
            <span>
              <span className="data font-medium">{formatCount(delivered)}</span>{' '}
              <span className="text-muted">delivered</span>
            </span>
            <span>
              <span className="data font-medium">{success}</span>{' '}
              <span className="text-muted">of attempts succeeded</span>
            </span>
            <span>
              <span className="data font-medium">{formatCount(retries)}</span>{' '}
              <span className="text-muted">retries</span>
            </span>
            <span className="ml-auto text-muted">
              {changed.map((words) => `${words} · `)}
              <span className="data text-faint">{at !== undefined && formatDateTime(at)}</span>
            </span>
          </>
        )}
      </p>
      <div
        className="mt-3 grid gap-5"
        aria-busy={activity === undefined}
        onPointerMove={({ clientX, currentTarget }) => {
          const { left, width } = (
            currentTarget.querySelector('svg') ?? currentTarget
          ).getBoundingClientRect();
          setCursor(indexAt(result.length, (clientX - left) / width));
        }}
        onPointerLeave={() => setCursor(null)}
      >
        <TimeChart
          title="Deliveries"
          summary={`${formatCount(delivered)} delivered`}
          format={formatCount}
          series={[line('delivered', (point) => point.delivered, 'text')]}
          ticks={result.flatMap(({ failedAttempts: n }, index) => (n > 0 ? [index] : []))}
          {...common}
        />
        <TimeChart
          title="Success rate"
          summary={`${success} of attempts succeeded`}
          format={formatPercent}
          axis={PERCENT}
          series={[
            line(
              'ok',
              (point) => percentOf(succeededAttempts(point), point.failedAttempts),
              'text',
            ),
          ]}
          {...common}
        />
        <TimeChart
          title="Failed attempts"
          summary={`${formatCount(failedAttempts)} failed attempts`}
          format={formatCount}
          series={FAILURES.map(({ label, of, color }) => line(label, of, color))}
          {...common}
        />
        <TimeChart
          title="Response time"
          summary="Response time of attempts: median and 95th percentile"
          format={formatDuration}
          series={[
            line('p95', (point) => point.p95Ms, 'muted', 'band'),
            line('p50', (point) => point.p50Ms, 'text'),
          ]}
          {...common}
        />
        <TimeChart
          title="Retries"
          summary={`${formatCount(retries)} retries`}
          format={formatCount}
          series={[line('retries', (point) => point.retries, 'muted')]}
          {...common}
        />
      </div>
      <p className="data mt-1 mr-chart flex justify-between text-faint">
        {[0, 0.5, 1].map((share) => {
          const point = result[indexAt(result.length, share)];
          return (
            <span key={share} className={share === 0.5 ? 'max-sm:hidden' : ''}>
              {point === undefined ? '\u00a0' : formatDateTime(point.at).slice(5, 16)}
            </span>
          );
        })}
      </p>
      {!isEmpty && (
        <details className="mt-4">
          <summary className="flex min-h-7 cursor-pointer items-center text-12 text-muted">
            Show as table
          </summary>
          <div className="max-h-80 overflow-auto">
            <Table points={result} />
          </div>
        </details>
      )}
    </>
  );
}

/** Lists the numbers as text for screen readers, without steps that have no attempts. */
function Table({ points }: { points: readonly ActivityPoint[] }) {
  const busy = points.filter((point) => succeededAttempts(point) + point.failedAttempts > 0);
  return (
    <table className="w-full max-w-160 border-collapse">
      <thead>
        <tr className="border-b border-line text-left">
          {['From', 'Delivered', 'Failed attempts', 'Success', 'Retries', 'p50', 'p95'].map(
            (head, index) => (
              <th
                key={head}
                scope="col"
                className={`caps py-1 ${index === 0 ? '' : 'pl-3 text-right'}`}
              >
                {head}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>
        {busy.toReversed().map((point) => (
          <tr key={point.at} className="border-b border-line">
            <th scope="row" className="data py-1 text-left font-normal">
              {formatDateTime(point.at)}
            </th>
            {[
              formatCount(point.delivered),
              formatCount(point.failedAttempts),
              formatShare(succeededAttempts(point), point.failedAttempts),
              formatCount(point.retries),
              point.p50Ms === null ? '–' : formatDuration(point.p50Ms),
              point.p95Ms === null ? '–' : formatDuration(point.p95Ms),
            ].map((text, index) => (
              <td key={index} className="data pl-3 text-right whitespace-nowrap">
                {text}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
