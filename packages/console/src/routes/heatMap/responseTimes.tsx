import type { ResponseTimesQuery } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { useId, useMemo, useState } from 'react';
import { responseTimesQuery } from '../../data/queries/activity.ts';
import { Button } from '../../ui/button.tsx';
import { useWidth } from '../../ui/canvas/canvas.ts';
import { TimeAxis } from '../../ui/chart/timeAxis.tsx';
import { useZone } from '../../ui/preferences.ts';
import { formatCount, formatDuration } from '../../ui/text/format.ts';
import { RESULT_WORDS } from '../../words/attemptResults.ts';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { FAILURE_ROW, HEAT_HEIGHT, TICKS_MS, yOfMs } from './geometry.ts';
import {
  FAILURES,
  type HeatMap,
  type HeatRange,
  type HeatSearch,
  leastOf,
  LEVELS,
  toHeatMap,
  toHeatSearch,
} from './heatMap.ts';
import { HeatMapView } from './heatMapView.tsx';
import { HeatTable } from './heatTable.tsx';
import { opacityOf } from './paintHeatMap.ts';

/** Minimum width of a column in pixels. */
const MIN_COLUMN = 3;

/** Shows the attempts of a stream or a receiver over time by response time, with the failures. */
export function ResponseTimes({
  query,
  onOpen,
}: {
  query: ResponseTimesQuery;
  /** Lists the deliveries of a part of the map. */
  onOpen: (search: HeatSearch) => void;
}) {
  useZone();
  const hint = useId();
  const [isTable, setTable] = useState(false);
  const [measure, width] = useWidth();
  const { data: times, error, refetch } = useQuery(responseTimesQuery(query));
  const most = Math.max(1, Math.floor(width / MIN_COLUMN));
  const map = useMemo(() => times && toHeatMap(times, most), [times, most]);
  const open = (range: HeatRange): void => {
    if (map !== undefined) onOpen(toHeatSearch(map, range));
  };
  return (
    <section aria-label="Response times" className="mt-6">
      <div className="flex flex-wrap items-baseline gap-x-4">
        <h3 className="text-12 text-muted">
          Response times <span className="text-faint">attempts by time and result</span>
        </h3>
        {times !== undefined && times.p95Ms !== null && (
          <p className="data text-faint">
            p50 {formatDuration(times.p50Ms ?? 0)} · p95 {formatDuration(times.p95Ms)}
          </p>
        )}
        {map !== undefined && map.max > 0 && <Legend max={map.max} />}
        <Button
          variant="quiet"
          className="ml-auto"
          aria-pressed={isTable}
          onClick={() => setTable(!isTable)}
        >
          {isTable ? 'Hide table' : 'Show as table'}
        </Button>
      </div>
      {error !== null && (
        <ErrorPanel
          what="Couldn't load response times"
          error={error}
          onRetry={() => void refetch()}
          stale={times !== undefined}
        />
      )}
      <div className="relative mr-chart" style={{ height: HEAT_HEIGHT }}>
        <div ref={measure} />
        {map !== undefined && width > 0 && (
          <HeatMapView map={map} width={width} describedBy={hint} onOpen={open} />
        )}
        {map?.max === 0 && (
          <span className="pointer-events-none absolute inset-0 grid place-items-center text-12 text-faint">
            no attempts
          </span>
        )}
        <AxisLabels />
      </div>
      {map !== undefined && (
        <TimeAxis
          from={map.from}
          stepMs={map.stepMs}
          count={map.columns}
          width={width}
          className="mr-chart"
        />
      )}
      <p id={hint} className="mt-1 text-12 text-faint">
        Drag to list the deliveries with these attempts.
        <span className="pointer-coarse:hidden">
          {' '}
          Keyboard: arrow keys move, Shift selects a part, Enter lists its deliveries.
        </span>
      </p>
      {isTable && map !== undefined && <HeatTable map={map} onOpen={open} />}
    </section>
  );
}

/** Labels the rows of failures and the axis of response times, to the right of the map. */
function AxisLabels() {
  const labels = [
    ...FAILURES.map((result, row) => ({
      text: RESULT_WORDS[result],
      y: (row + 0.5) * FAILURE_ROW,
      tone: 'text-bad',
    })),
    ...TICKS_MS.map((ms) => ({ text: formatDuration(ms), y: yOfMs(ms), tone: 'data text-faint' })),
  ];
  return (
    <div aria-hidden="true" className="absolute inset-y-0 left-full w-label">
      {labels.map(({ text, y, tone }) => (
        <span
          key={text}
          className={`absolute left-2 -translate-y-1/2 text-11 leading-3 whitespace-nowrap ${tone}`}
          style={{ top: y }}
        >
          {text}
        </span>
      ))}
    </div>
  );
}

/** Shows the lowest count of each color of the scale. */
function Legend({ max }: { max: HeatMap['max'] }) {
  const levels = Array.from({ length: LEVELS }, (_, index) => index + 1).filter(
    (level) => level === LEVELS || leastOf(level, max) < leastOf(level + 1, max),
  );
  return (
    <p aria-hidden="true" className="flex flex-wrap items-center gap-x-3 text-11 text-faint">
      {levels.map((level) => (
        <span key={level} className="inline-flex items-center gap-1">
          <span className="size-2 bg-text" style={{ opacity: opacityOf(level) }} />
          <span className="size-2 bg-bad" style={{ opacity: opacityOf(level) }} />
          <span className="data">{formatCount(leastOf(level, max))}+</span>
        </span>
      ))}
      <span className="inline-flex items-center gap-1">attempts, failed ones in red</span>
    </p>
  );
}
