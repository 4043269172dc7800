/* oxlint-disable jsx-a11y/prefer-tag-over-role -- an inline drawing, not an image file */
import { memo } from 'react';
import {
  areaPath,
  axisOf,
  betweenPath,
  lastValue,
  linePath,
  splitLast,
  spreadLabels,
  xOf,
  yOf,
  type Axis,
  type Scale,
} from './chart.ts';
import type { TimeTick } from './timeTicks.ts';

/** Size of the chart's view box, which stretches horizontally. One vertical unit is one pixel. */
const WIDTH = 1000;
const HEIGHT = 96;
/** Minimum distance between two labels, in pixels. */
const LABEL_STEP = 15;
/** Height of a mark at the lower edge, in pixels. */
const MARK = 5;

export interface ChartSeries {
  label: string;
  values: readonly (number | null)[];
  color: string;
  /**
   * `band` is a filled area; `earlier` is a dotted line for a compared period, shaded up to the line
   * that follows it.
   */
  variant: 'line' | 'band' | 'earlier';
}

/**
 * Returns whether a series has values above zero. Without a custom axis, a series without such
 * values is not drawn, because it would add a color to a healthy chart.
 */
const isSomething = ({ values }: ChartSeries): boolean => values.some((value) => (value ?? 0) > 0);
const isKnown = ({ values }: ChartSeries): boolean => values.some((value) => value !== null);

const valuesOf = (series: readonly ChartSeries[]): number[] =>
  series.flatMap(({ values }) => values.map((value) => value ?? 0));

/**
 * Draws a chart over time, with a time axis, hairlines at the top and at zero, and a label at the
 * end of each line.
 */
export const TimeChart = memo(function TimeChart({
  title,
  unit,
  summary,
  series,
  format,
  cursor,
  changes,
  bad = [],
  ticks,
  isPartial,
  axis,
  instead,
}: {
  title: string;
  /** Unit of the values, such as `per 5 min`. */
  unit: string;
  /** Text for screen readers. */
  summary: string;
  series: readonly ChartSeries[];
  format: (value: number) => string;
  /** Index of the step whose values are shown; null shows the newest complete step. */
  cursor: number | null;
  /** Indexes of the steps that are marked with a vertical line. */
  changes: readonly number[];
  /** Indexes of the steps that are marked as bad at the lower edge. */
  bad?: readonly number[];
  ticks: readonly TimeTick[];
  /** Whether the last step is in progress. */
  isPartial: boolean;
  /** A custom vertical axis. Default: up to a round number, with a break if there are outliers. */
  axis?: Axis;
  /** Text that is shown in the middle of the chart, such as `no data`. */
  instead?: string | undefined;
}) {
  const drawn = series.filter(axis === undefined ? isSomething : isKnown);
  const count = Math.max(0, ...series.map(({ values }) => values.length));
  const { top, fold }: Axis = axis ?? axisOf(valuesOf(drawn));
  const scale: Scale = { width: WIDTH, height: HEIGHT, top, count, ...(fold && { fold }) };
  const broken = fold && yOf(scale, fold.value);
  const ends = drawn.map(({ values }) =>
    yOf(scale, lastValue(isPartial ? values.slice(0, -1) : values) ?? 0),
  );
  const places = spreadLabels(broken === undefined ? ends : [...ends, broken], HEIGHT, LABEL_STEP);
  return (
    <div>
      <div className="mr-chart flex items-baseline justify-between gap-2">
        <h3 className="truncate text-12 text-muted">
          {title} <span className="text-faint">{unit}</span>
        </h3>
        <span className="data whitespace-nowrap text-faint">
          {(axis !== undefined || drawn.length > 0) && format(top)}
        </span>
      </div>
      <div className="relative h-24">
        {broken !== undefined && <Break top={broken} />}
        <svg
          role="img"
          aria-label={summary}
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          className="absolute inset-y-0 left-0 h-24 w-chart overflow-visible border-t border-b border-line"
        >
          <path
            d={ticks.map(({ place }) => `M${(place * WIDTH).toFixed(1)} 0V${HEIGHT}`).join('')}
            stroke="var(--color-line)"
            opacity="0.6"
            vectorEffect="non-scaling-stroke"
          />
          <path
            d={changes.map((at) => `M${xOf(scale, at).toFixed(1)} 0V${HEIGHT}`).join('')}
            stroke="var(--color-muted)"
            strokeDasharray="1 3"
            vectorEffect="non-scaling-stroke"
          />
          {bad.length > 0 && (
            <path
              d={bad.map((at) => `M${xOf(scale, at).toFixed(1)} ${HEIGHT}v${-MARK}`).join('')}
              stroke="var(--color-bad)"
              vectorEffect="non-scaling-stroke"
            />
          )}
          {drawn.map((each, index) => (
            <Line
              key={each.label}
              series={each}
              next={drawn[index + 1]}
              scale={scale}
              isPartial={isPartial}
            />
          ))}
          {cursor !== null && (
            <path
              d={`M${xOf(scale, cursor)} 0V${HEIGHT}`}
              stroke="var(--color-line-strong)"
              vectorEffect="non-scaling-stroke"
            />
          )}
        </svg>
        {instead !== undefined && (
          <span className="absolute inset-y-0 left-0 grid w-chart place-items-center text-12 text-faint">
            {instead}
          </span>
        )}
        {drawn.length === 0 && instead === undefined && (
          <span className="absolute right-0 bottom-0 w-label translate-y-1/2 truncate text-12 text-faint">
            none
          </span>
        )}
        {fold !== undefined && (
          <span
            aria-hidden="true"
            className="data absolute right-0 w-label -translate-y-1/2 text-faint"
            style={{ top: places.at(-1) }}
          >
            {format(fold.value)}
          </span>
        )}
        {drawn.map(({ label, values, color }, index) => {
          const value = values[cursor ?? values.length - (isPartial ? 2 : 1)];
          return (
            <span
              key={label}
              className="absolute right-0 flex w-label -translate-y-1/2 gap-1.5 text-12 whitespace-nowrap"
              style={{ top: places[index], color }}
            >
              <span className="data">{value == null ? '–' : format(value)}</span>
              <span className="truncate">{label}</span>
            </span>
          );
        })}
      </div>
      <div aria-hidden="true" className="relative mr-chart h-4">
        {ticks.map(({ place, label }) => (
          <span
            key={place}
            className="data absolute -translate-x-1/2 text-11 text-faint"
            style={{ left: `${place * 100}%` }}
          >
            {label}
          </span>
        ))}
      </div>
    </div>
  );
});

/**
 * Draws one series. The part that leads to a value in progress is dashed, or lighter in a `band`.
 */
function Line({
  series: { values, color, variant },
  next,
  scale,
  isPartial,
}: {
  series: ChartSeries;
  /** The series that is drawn next. */
  next: ChartSeries | undefined;
  scale: Scale;
  isPartial: boolean;
}) {
  const { complete, last } = isPartial ? splitLast(values) : { complete: values, last: [] };
  if (variant === 'band') {
    return (
      <>
        <path d={areaPath(scale, complete)} fill={color} opacity="0.25" />
        <path d={areaPath(scale, last)} fill={color} opacity="0.12" />
      </>
    );
  }
  const stroke = {
    fill: 'none',
    stroke: color,
    strokeWidth: variant === 'earlier' ? '1' : '1.5',
    strokeLinecap: 'round',
    strokeLinejoin: 'round',
    vectorEffect: 'non-scaling-stroke',
  } as const;
  if (variant === 'earlier') {
    return (
      <>
        {next !== undefined && (
          <path d={betweenPath(scale, values, next.values)} fill={color} opacity="0.2" />
        )}
        <path d={linePath(scale, values)} strokeDasharray="1 2.5" {...stroke} />
      </>
    );
  }
  return (
    <>
      <path d={linePath(scale, complete)} {...stroke} />
      <path d={linePath(scale, last)} strokeDasharray="3 3" {...stroke} />
    </>
  );
}

/** Marks a break in the axis: a hairline with a zigzag at its end. */
function Break({ top }: { top: number }) {
  return (
    <div className="absolute left-0 w-chart border-t border-line" style={{ top }}>
      <svg viewBox="0 0 8 24" className="absolute top-0 -right-1 h-6 w-2" aria-hidden="true">
        <path
          d="M4 0v6L1 8.5l6 4L1 16.5l3 2V24"
          fill="none"
          stroke="var(--color-muted)"
          strokeLinejoin="round"
        />
      </svg>
    </div>
  );
}
