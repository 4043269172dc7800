import type { StreamSummary } from '@sluice/kit/sluice';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Download, ZoomOut } from 'lucide-react';
import { lazy, Suspense } from 'react';
import {
  activityQuery,
  breakdownQuery,
  streamChangesQuery,
} from '../../../data/queries/streams.ts';
import {
  METRICS_SPANS,
  parseStreamSearch,
  withoutUndefined,
  type StreamSearch,
} from '../../../data/search.ts';
import { Button } from '../../../ui/button.tsx';
import { Segments } from '../../../ui/form/segments.tsx';
import { PeriodField } from '../../../ui/form/period/periodField.tsx';
import { useMinute } from '../../../ui/text/clock.ts';
import { download } from '../../../ui/text/download.ts';
import { formatDateTime } from '../../../ui/text/format.ts';
import { idleReasonOf } from '../../../words/condition.ts';
import { ErrorPanel } from '../../../words/errorPanel.tsx';
import { ChainWaits, NothingWatched, useFollowed } from '../nextDelivery.tsx';
import { Breakdown } from './breakdown.tsx';
import { ComparisonField } from './comparisonField.tsx';
import { ChangeList } from './changeList.tsx';
import { Charts } from './charts.tsx';
import { toMetricsRange, type MetricsPeriod } from './metricsRange.ts';
import { pointsToCsv, wasTried, type ComparedActivity } from './points.ts';
import { placeChanges } from './streamChanges.ts';

const ResponseTimes = lazy(async () => ({
  default: (await import('../../heatMap/responseTimes.tsx')).ResponseTimes,
}));

/** Shows charts of a stream's deliveries over time, a breakdown, and the changes to the stream. */
export function MetricsTab({ stream }: { stream: StreamSummary }) {
  const period: MetricsPeriod = useSearch({ from: '/frame/streams/$streamId' });
  const navigate = useNavigate({ from: '/streams/$streamId' });
  const { step, points, until, comparedUntil } = toMetricsRange(period, useMinute());
  const asked = { streamId: stream.id, step, points, ...(until !== undefined && { until }) };
  const read = useQuery(activityQuery(asked));
  const compared = useQuery({
    ...activityQuery({ ...asked, until: comparedUntil ?? 0 }),
    enabled: comparedUntil !== null,
    // The period moves with the clock.
    placeholderData: keepPreviousData,
  });
  const breakdown = useQuery(breakdownQuery(asked));
  const changes = useQuery(streamChangesQuery(stream.id));
  const earlier = comparedUntil === null ? null : (compared.data?.result ?? null);
  const activity = read.data && { ...read.data, earlier };
  // A stream that has never sent anything is shown as empty even before the response arrives.
  const isEmpty =
    activity === undefined ? stream.lastDeliveryAt === null : !wasTried(activity.result);
  const show = ({ span, from, until: to, ago }: MetricsPeriod): void => {
    void navigate({
      search: withoutUndefined<StreamSearch>({
        tab: 'metrics',
        span: span === 'day' ? undefined : span,
        from,
        until: to,
        ago,
      }),
    });
  };
  return (
    <section aria-label="Metrics" className="px-4 py-4">
      <Controls period={period} onShow={show} activity={activity} stream={stream} />
      {comparedUntil === null && (
        <p className="mt-2 text-12 text-muted">
          Metrics of the compared period are no longer stored in steps of this length.
        </p>
      )}
      {isEmpty && <NoData stream={stream} />}
      {read.isError && (
        <ErrorPanel
          what="Couldn't load metrics"
          error={read.error}
          onRetry={() => void read.refetch()}
          stale={read.data !== undefined}
        />
      )}
      {(activity !== undefined || read.isPending) && (
        <Charts
          activity={activity}
          step={step}
          noData={stream.lastDeliveryAt === null ? 'no data yet' : 'no data'}
          changes={activity === undefined ? [] : placeChanges(changes.data ?? [], activity)}
          onOpen={(from, to) => {
            void navigate({ search: parseStreamSearch({ triedFrom: from, triedUntil: to }) });
          }}
          onZoom={(from, to) => show({ ...period, from, until: to })}
          onZoomOut={isChosen(period) ? () => show({ span: period.span, ago: period.ago }) : null}
        />
      )}
      <Suspense fallback={null}>
        <ResponseTimes
          query={asked}
          onOpen={(search) => {
            void navigate({
              search: parseStreamSearch({
                ...search,
                ...(stream.destinations.length > 0 && { destination: 0 }),
              }),
            });
          }}
        />
      </Suspense>
      {breakdown.isError && (
        <ErrorPanel
          what="Couldn't load the breakdown"
          error={breakdown.error}
          onRetry={() => void breakdown.refetch()}
          stale={breakdown.data !== undefined}
        />
      )}
      {!read.isPending && breakdown.data !== undefined && <Breakdown breakdown={breakdown.data} />}
      {changes.isError && (
        <ErrorPanel
          what="Couldn't load the changes"
          error={changes.error}
          onRetry={() => void changes.refetch()}
          stale={changes.data !== undefined}
        />
      )}
      {!read.isPending && !breakdown.isPending && changes.data !== undefined && (
        <ChangeList
          changes={changes.data}
          stream={stream}
          onCompare={(from) => show({ span: period.span, from })}
        />
      )}
    </section>
  );
}

const isChosen = ({ from, until }: MetricsPeriod): boolean =>
  from !== undefined || until !== undefined;

function Controls({
  period,
  onShow,
  activity,
  stream,
}: {
  period: MetricsPeriod;
  onShow: (period: MetricsPeriod) => void;
  activity: ComparedActivity | undefined;
  stream: StreamSummary;
}) {
  const { span = 'day', ago } = period;
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <Segments<string>
        label="Period"
        options={METRICS_SPANS}
        value={isChosen(period) ? '' : span}
        onChange={(chosen) =>
          onShow({ ago, span: METRICS_SPANS.find((it) => it.value === chosen)?.value })
        }
      />
      <PeriodField
        label="Other period"
        empty="Other period"
        value={period}
        onChange={({ from, until }) => onShow({ span, ago, from, until })}
        className="min-w-0"
      />
      {isChosen(period) && (
        <Button variant="quiet" onClick={() => onShow({ span, ago })}>
          <ZoomOut size={14} strokeWidth={1.5} aria-hidden="true" />
          Zoom out
        </Button>
      )}
      {activity !== undefined && (
        <ComparisonField
          ago={ago}
          start={activity.result[0]?.at ?? 0}
          onChange={(chosen) => onShow({ ...period, ago: chosen })}
        />
      )}
      <Button
        variant="quiet"
        className="ml-auto"
        disabled={activity === undefined}
        onClick={() => {
          if (activity !== undefined) download(...toFile(stream, activity));
        }}
      >
        <Download size={14} strokeWidth={1.5} aria-hidden="true" />
        Export CSV
      </Button>
    </div>
  );
}

function toFile(
  { tag, id }: StreamSummary,
  { result }: ComparedActivity,
): Parameters<typeof download> {
  const name = (tag || id).replaceAll(/[^\w.-]+/g, '-');
  const from = formatDateTime(result[0]?.at ?? 0)
    .slice(0, 16)
    .replace(' ', 'T')
    .replace(':', '');
  return [`metrics-${name}-${from}.csv`, pointsToCsv(result), 'text/csv'];
}

/** Explains why the charts are empty, and which blocks could add a point. */
function NoData({ stream }: { stream: StreamSummary }) {
  const followed = useFollowed(stream);
  const standstill = idleReasonOf(stream);
  if (standstill !== null) return <NothingWatched stream={stream} standstill={standstill} />;
  return (
    <div className="mt-2 flex flex-wrap gap-x-4">
      <p className="text-muted">
        {stream.lastDeliveryAt === null
          ? 'The charts start at the next block that matches.'
          : 'No webhooks were sent in this period.'}
      </p>
      {followed.map((chain) => (
        <ChainWaits key={chain.id} chain={chain} />
      ))}
    </div>
  );
}
