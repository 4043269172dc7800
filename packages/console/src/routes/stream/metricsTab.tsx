import type { Activity, ActivityPoint, StreamSummary } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { activityQuery } from '../../api.ts';
import { indexAt } from '../../chart.ts';
import { formatCount, formatDateTime, formatDuration, formatShare } from '../../format.ts';
import { ErrorPanel } from '../../ui/errorPanel.tsx';
import { Segments } from '../../ui/segments.tsx';
import { TimeChart } from '../../ui/timeChart.tsx';

const SPANS = [
  { value: 'hour', label: 'Hour', step: 1, points: 60 },
  { value: 'day', label: 'Day', step: 5, points: 288 },
  { value: 'week', label: 'Week', step: 60, points: 168 },
] as const;

/** How a stream's deliveries went, over time: one axis and one cursor for all charts. */
export function MetricsTab({ stream }: { stream: StreamSummary }) {
  const [chosen, setChosen] = useState<(typeof SPANS)[number]['value']>('day');
  const { step, points } = SPANS.find(({ value }) => value === chosen) ?? SPANS[1];
  const activity = useQuery(activityQuery({ streamId: stream.id, step, points }));
  return (
    <section aria-label="Metrics" className="px-4 py-4">
      <Segments label="Time" options={SPANS} value={chosen} onChange={setChosen} />
      {activity.isError && (
        <ErrorPanel
          what="The numbers could not be read"
          error={activity.error}
          onRetry={() => void activity.refetch()}
          stale={activity.data !== undefined}
        />
      )}
      {activity.isPending && <p className="mt-3 animate-late text-faint">Loading</p>}
      {activity.data !== undefined && <Charts activity={activity.data} />}
    </section>
  );
}

const sum = (points: readonly ActivityPoint[], of: (point: ActivityPoint) => number): number =>
  points.reduce((total, point) => total + of(point), 0);

function Charts({ activity: { result } }: { activity: Activity }) {
  const [cursor, setCursor] = useState<number | null>(null);
  const delivered = sum(result, (point) => point.delivered);
  const failedAttempts = sum(result, (point) => point.failedAttempts);
  const retries = sum(result, (point) => point.retries);
  const at = result[cursor ?? result.length - 1]?.at;
  if (delivered + failedAttempts === 0) {
    return (
      <p className="mt-4 text-muted">
        Nothing was sent in this time. The first attempt appears within a minute.
      </p>
    );
  }
  const pick = (of: (point: ActivityPoint) => number | null) => result.map(of);
  return (
    <>
      <p className="mt-3 flex flex-wrap gap-x-6">
        <span>
          <span className="data font-medium">{formatCount(delivered)}</span>{' '}
          <span className="text-muted">delivered</span>
        </span>
        <span>
          <span className="data font-medium">{formatShare(delivered, failedAttempts)}</span>{' '}
          <span className="text-muted">of attempts ok</span>
        </span>
        <span>
          <span className="data font-medium">{formatCount(retries)}</span>{' '}
          <span className="text-muted">retries</span>
        </span>
        <span className="data ml-auto text-faint">{at !== undefined && formatDateTime(at)}</span>
      </p>
      <div
        className="mt-3 grid gap-5"
        onPointerMove={({ clientX, currentTarget }) => {
          const { left, width } = currentTarget.getBoundingClientRect();
          setCursor(indexAt(result.length, (clientX - left) / width));
        }}
        onPointerLeave={() => setCursor(null)}
      >
        <TimeChart
          title="Deliveries"
          summary={`${formatCount(delivered)} delivered`}
          format={formatCount}
          cursor={cursor}
          series={[
            {
              label: 'delivered',
              values: pick((point) => point.delivered),
              color: 'var(--color-text)',
              look: 'line',
            },
          ]}
        />
        <TimeChart
          title="Failed attempts"
          summary={`${formatCount(failedAttempts)} failed attempts`}
          format={formatCount}
          cursor={cursor}
          series={[
            {
              label: '5xx',
              values: pick(({ failures }) => failures['5xx']),
              color: 'var(--color-bad)',
              look: 'line',
            },
            {
              label: '4xx',
              values: pick(({ failures }) => failures['4xx']),
              color: 'var(--color-warn)',
              look: 'line',
            },
            {
              label: '3xx',
              values: pick(({ failures }) => failures['3xx']),
              color: 'var(--color-info)',
              look: 'line',
            },
            {
              label: 'no answer',
              values: pick(({ failures }) => failures.none),
              color: 'var(--color-reorg)',
              look: 'line',
            },
          ]}
        />
        <TimeChart
          title="Answered within"
          summary="Time to the answer: half of the attempts, and 95 of 100"
          format={formatDuration}
          cursor={cursor}
          series={[
            {
              label: 'p95',
              values: pick((point) => point.p95Ms),
              color: 'var(--color-muted)',
              look: 'band',
            },
            {
              label: 'p50',
              values: pick((point) => point.p50Ms),
              color: 'var(--color-text)',
              look: 'line',
            },
          ]}
        />
        <TimeChart
          title="Retries"
          summary={`${formatCount(retries)} retries`}
          format={formatCount}
          cursor={cursor}
          series={[
            {
              label: 'retries',
              values: pick((point) => point.retries),
              color: 'var(--color-muted)',
              look: 'line',
            },
          ]}
        />
      </div>
      <p className="data mt-1 flex justify-between text-faint">
        {[0, 0.5, 1].map((share) => (
          <span key={share}>
            {formatDateTime(result[indexAt(result.length, share)]?.at ?? 0).slice(0, 16)}
          </span>
        ))}
      </p>
      <details className="mt-4">
        <summary className="flex min-h-7 cursor-pointer items-center text-12 text-muted">
          As a table
        </summary>
        <div className="max-h-80 overflow-auto">
          <Table points={result} />
        </div>
      </details>
    </>
  );
}

/** The same numbers for those who do not see lines; steps without an attempt are left out. */
function Table({ points }: { points: readonly ActivityPoint[] }) {
  const busy = points.filter((point) => point.delivered + point.failedAttempts > 0);
  return (
    <table className="w-full max-w-160 border-collapse">
      <thead>
        <tr className="border-b border-line text-left">
          {['From', 'Delivered', 'Failed attempts', 'Retries', 'p50', 'p95'].map((head, index) => (
            <th key={head} scope="col" className={`caps py-1 ${index === 0 ? '' : 'text-right'}`}>
              {head}
            </th>
          ))}
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
              formatCount(point.retries),
              point.p50Ms === null ? '–' : formatDuration(point.p50Ms),
              point.p95Ms === null ? '–' : formatDuration(point.p95Ms),
            ].map((text, index) => (
              <td key={index} className="data text-right">
                {text}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
