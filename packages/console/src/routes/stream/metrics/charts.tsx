import type { ActivityPoint, ActivityStep } from '@sluice/kit/sluice';
import { useId, useState } from 'react';
import { PERCENT_AXIS } from '../../../ui/chart/chart.ts';
import { type ChartSeries, TimeChart } from '../../../ui/chart/timeChart.tsx';
import { TimeCursor } from '../../../ui/chart/timeCursor.tsx';
import { timeTicks } from '../../../ui/chart/timeTicks.ts';
import { useMedia } from '../../../ui/media.ts';
import { useZone } from '../../../ui/preferences.ts';
import {
  formatClock,
  formatCount,
  formatDateTime,
  formatDuration,
  formatPercent,
  percentOf,
} from '../../../ui/text/format.ts';
import { PointTable } from './pointTable.tsx';
import {
  formatGrowth,
  formatShift,
  succeededAttempts,
  toTotals,
  wasTried,
  type ComparedActivity,
} from './points.ts';
import { labelChanges, type PlacedChange } from './streamChanges.ts';

const MINUTE_MS = 60_000;

const FAILURES = [
  { label: '5xx', of: ({ failures }: ActivityPoint) => failures['5xx'], color: 'bad' },
  { label: '4xx', of: ({ failures }: ActivityPoint) => failures['4xx'], color: 'warn' },
  { label: '3xx', of: ({ failures }: ActivityPoint) => failures['3xx'], color: 'info' },
  { label: 'no response', of: ({ failures }: ActivityPoint) => failures.none, color: 'reorg' },
] as const;

const STEP_WORDS: Readonly<Record<ActivityStep, string>> = {
  1: 'per minute',
  5: 'per 5 min',
  60: 'per hour',
};

const NOTHING: ComparedActivity = { stepMinutes: 5, result: [], earlier: null, isPartial: false };

/** Draws the charts on a shared time axis. */
export function Charts({
  activity,
  step,
  changes,
  noData,
  onOpen,
  onZoom,
  onZoomOut,
}: {
  /** Metrics to draw; undefined while they load. Empty charts reserve the space. */
  activity: ComparedActivity | undefined;
  step: ActivityStep;
  changes: readonly PlacedChange[];
  /** Text shown in the charts if the period has no attempts. */
  noData: string;
  /**
   * Opens the deliveries that were attempted in a period. `from` and `until` are inclusive, in Unix
   * milliseconds.
   */
  onOpen: (from: number, until: number) => void;
  onZoom: (from: number, until: number) => void;
  /** Zooms out; null unless the user has chosen the start or the end of the period. */
  onZoomOut: (() => void) | null;
}) {
  const [chosen, setCursor] = useState<number | null>(null);
  const hint = useId();
  const isWide = useMedia('(min-width: 900px)');
  useZone();
  const { result, isPartial } = activity ?? NOTHING;
  // The cursor may be beyond the end after a change to a period with fewer steps.
  const cursor = chosen === null || chosen >= result.length ? null : chosen;
  const stepMs = step * MINUTE_MS;
  const isEmpty = activity !== undefined && !wasTried(result);
  const instead = activity === undefined ? '' : isEmpty ? noData : undefined;
  const ticks = timeTicks({
    from: result[0]?.at ?? 0,
    stepMs,
    count: result.length,
    most: isWide ? 8 : 4,
  });
  const timeOf = (index: number): string => {
    const { at = 0 } = result[index] ?? {};
    const end = isPartial && index === result.length - 1 ? 'now' : formatClock(at + stepMs);
    return `${formatDateTime(at).slice(0, -3)} to ${end.slice(0, 5)}`;
  };
  const changesAt = (index: number | null): string[] =>
    changes.filter((change) => change.index === index).map(({ words }) => words);
  const describe = (index: number): string => {
    const point = result[index];
    return [
      timeOf(index),
      `${formatCount(point?.delivered ?? 0)} delivered`,
      `${formatCount(point?.failedAttempts ?? 0)} failed attempts`,
      ...changesAt(index),
    ].join(', ');
  };
  const endOf = (index: number): number => (result[index]?.at ?? 0) + stepMs - 1;
  return (
    <>
      <Summary
        activity={activity}
        at={
          result.length === 0
            ? ''
            : [...changesAt(cursor), timeOf(cursor ?? result.length - (isPartial ? 2 : 1))].join(
                ' · ',
              )
        }
      />
      <ChangeLabels changes={changes} count={result.length} />
      <div className="relative grid gap-4" aria-busy={activity === undefined}>
        <ChartList
          activity={activity ?? NOTHING}
          step={step}
          common={{ cursor, instead, ticks, isPartial, changes: changes.map(({ index }) => index) }}
        />
        {result.length > 1 && (
          <TimeCursor
            count={result.length}
            cursor={cursor}
            describedBy={hint}
            describe={describe}
            onMove={setCursor}
            onOpen={(index) => onOpen(result[index]?.at ?? 0, endOf(index))}
            onZoom={(from, to) => onZoom(result[from]?.at ?? 0, endOf(to))}
            onZoomOut={onZoomOut}
          />
        )}
      </div>
      <p id={hint} className="mt-1 text-12 text-faint">
        Drag to zoom. Click to list the deliveries of a step.
        <span className="pointer-coarse:hidden">
          {' '}
          Keyboard: arrow keys move, Shift selects a range, Enter opens or zooms, Escape zooms out.
        </span>
      </p>
      {!isEmpty && (
        <details className="mt-4">
          <summary className="flex min-h-7 cursor-pointer items-center text-12 text-muted">
            Show as table
          </summary>
          <div className="max-h-80 overflow-auto">
            <PointTable points={result} />
          </div>
        </details>
      )}
    </>
  );
}

/** Draws one chart per metric. */
function ChartList({
  activity: { result, earlier },
  step,
  common,
}: {
  activity: ComparedActivity;
  step: ActivityStep;
  common: Pick<
    React.ComponentProps<typeof TimeChart>,
    'cursor' | 'instead' | 'ticks' | 'isPartial' | 'changes'
  >;
}) {
  const totals = toTotals(result);
  const perStep = STEP_WORDS[step];
  const line = (
    label: string,
    of: (point: ActivityPoint) => number | null,
    color: string,
    variant: ChartSeries['variant'] = 'line',
  ): ChartSeries => ({ label, values: result.map(of), color: `var(--color-${color})`, variant });
  const before = (of: (point: ActivityPoint) => number | null): ChartSeries[] =>
    earlier !== null && wasTried(earlier)
      ? [
          {
            label: 'compared',
            values: earlier.map(of),
            color: 'var(--color-faint)',
            variant: 'earlier',
          },
        ]
      : [];
  const successOf = (point: ActivityPoint): number | null =>
    percentOf(succeededAttempts(point), point.failedAttempts);
  return (
    <>
      <TimeChart
        title="Deliveries"
        unit={perStep}
        summary={`${formatCount(totals.delivered)} delivered`}
        format={formatCount}
        series={[
          ...before((point) => point.delivered),
          line('delivered', (point) => point.delivered, 'text'),
        ]}
        bad={result.flatMap(({ failedAttempts: n }, index) => (n > 0 ? [index] : []))}
        {...common}
      />
      <TimeChart
        title="Success rate"
        unit={perStep}
        summary={`${formatPercent(totals.success)} of attempts succeeded`}
        format={formatPercent}
        axis={PERCENT_AXIS}
        series={[...before(successOf), line('ok', successOf, 'text')]}
        {...common}
      />
      <TimeChart
        title="Failed attempts"
        unit={perStep}
        summary={`${formatCount(totals.failedAttempts)} failed attempts`}
        format={formatCount}
        series={[
          ...before((point) => point.failedAttempts),
          ...FAILURES.map(({ label, of, color }) => line(label, of, color)),
        ]}
        {...common}
      />
      <TimeChart
        title="Response time"
        unit={perStep}
        summary="Response time of successful attempts: median and 95th percentile"
        format={formatDuration}
        series={[
          line('p95', (point) => point.p95Ms, 'muted', 'band'),
          ...before((point) => point.p50Ms),
          line('p50', (point) => point.p50Ms, 'text'),
        ]}
        {...common}
      />
      <TimeChart
        title="Retries"
        unit={perStep}
        summary={`${formatCount(totals.retries)} retries`}
        format={formatCount}
        series={[
          ...before((point) => point.retries),
          line('retries', (point) => point.retries, 'muted'),
        ]}
        {...common}
      />
    </>
  );
}

/** Shows the totals of the period, and those of the compared period if it had attempts. */
function Summary({
  activity,
  at,
}: {
  activity: ComparedActivity | undefined;
  /** Time and changes of the step whose values are shown next to the lines. */
  at: string;
}) {
  if (activity === undefined) {
    return (
      <p className="mt-3 max-sm:min-h-10">
        <span className="animate-late text-faint">Loading</span>
      </p>
    );
  }
  const now = toTotals(activity.result);
  const before =
    activity.earlier !== null && wasTried(activity.earlier)
      ? toTotals(activity.earlier)
      : undefined;
  const countOf = (name: 'delivered' | 'retries') => ({
    value: formatCount(now[name]),
    of: name,
    before: before && formatCount(before[name]),
    change: before && formatGrowth(now[name], before[name]),
  });
  return (
    <p className="mt-3 flex flex-wrap gap-x-6 max-sm:min-h-10">
      <Figure {...countOf('delivered')} />
      <Figure
        value={formatPercent(now.success)}
        of="of attempts succeeded"
        before={before && formatPercent(before.success)}
        change={before && formatShift(now.success, before.success)}
      />
      <Figure {...countOf('retries')} />
      <span className="data ml-auto text-faint">{at}</span>
    </p>
  );
}

function Figure({
  value,
  of,
  before,
  change,
}: {
  value: string;
  of: string;
  /** Value of the compared period; undefined if there is nothing to compare with. */
  before: string | undefined;
  /** Difference to the compared period; empty if there is none. */
  change: string | undefined;
}) {
  return (
    <span>
      <span className="data font-medium">{value}</span> <span className="text-muted">{of}</span>
      {before !== undefined && (
        <span className="text-faint">
          , {change !== '' && <span className="data text-muted">{change} </span>}
          {change === '' ? 'previously' : 'from'} <span className="data">{before}</span>
        </span>
      )}
    </span>
  );
}

/** Labels the vertical lines that mark changes to the stream. The labels are above the charts. */
function ChangeLabels({ changes, count }: { changes: readonly PlacedChange[]; count: number }) {
  if (changes.length === 0) return <div className="h-3" />;
  return (
    <ul aria-label="Changes to the stream" className="relative mt-2 mr-chart h-5">
      {labelChanges(changes, count).map(({ place, room, text, title }) => (
        <li
          key={place}
          data-tip={title}
          className="absolute truncate border-l border-muted pl-1 text-11 text-muted"
          style={{ left: `${place * 100}%`, maxWidth: `${room * 100}%` }}
        >
          {text}
        </li>
      ))}
    </ul>
  );
}
