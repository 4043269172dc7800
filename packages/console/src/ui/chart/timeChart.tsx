/* oxlint-disable jsx-a11y/prefer-tag-over-role -- an inline drawing, not an image file */
import { memo } from 'react';
import {
  areaPath,
  lastValue,
  linePath,
  roundTop,
  spreadLabels,
  xOf,
  yOf,
  type Axis,
  type Scale,
} from './chart.ts';

/** View box of the chart. It stretches horizontally; one vertical unit is one pixel. */
const WIDTH = 1000;
const HEIGHT = 96;
/** Distance between the labels of two lines, in pixels. */
const LABEL_STEP = 15;
/** Length of a notch at the upper edge. */
const NOTCH = 8;
/** Length of a tick at the lower edge. */
const TICK = 5;

export interface Series {
  label: string;
  values: readonly (number | null)[];
  color: string;
  variant: 'line' | 'band';
}

/** An event at a step, marked at the upper edge. */
export interface Notch {
  index: number;
  words: string;
}

/** Lines that are always zero are not drawn, because they would color a healthy chart. */
const isSomething = ({ values }: Series): boolean => values.some((value) => (value ?? 0) > 0);
const isKnown = ({ values }: Series): boolean => values.some((value) => value !== null);

const greatestOf = (series: readonly Series[]): number =>
  series.reduce(
    (most, { values }) => values.reduce<number>((max, value) => Math.max(max, value ?? 0), most),
    0,
  );

/**
 * Draws a chart over time, with hairlines at the top and at zero, and a label at the end of each
 * line.
 */
export const TimeChart = memo(function TimeChart({
  title,
  summary,
  series,
  format,
  cursor,
  notches,
  ticks = [],
  axis,
  instead,
}: {
  title: string;
  /** Text for screen readers. */
  summary: string;
  series: readonly Series[];
  format: (value: number) => string;
  /** Index of the values to show; null shows the newest. */
  cursor: number | null;
  notches: readonly Notch[];
  /** Steps marked as bad at the lower edge. */
  ticks?: readonly number[];
  /** A custom scale. Default: from zero to a round number above the maximum. */
  axis?: Axis;
  /** Text that is shown without data. */
  instead?: string | undefined;
}) {
  const drawn = series.filter(axis === undefined ? isSomething : isKnown);
  const count = Math.max(0, ...series.map(({ values }) => values.length));
  const { top, fold } = axis ?? { top: roundTop(greatestOf(drawn)) };
  const scale: Scale = { width: WIDTH, height: HEIGHT, top, count, ...(fold && { fold }) };
  const broken = fold && yOf(scale, fold.value);
  const ends = drawn.map(({ values }) => yOf(scale, lastValue(values) ?? 0));
  const places = spreadLabels(broken === undefined ? ends : [...ends, broken], HEIGHT, LABEL_STEP);
  return (
    <div>
      <div className="mr-chart flex items-baseline justify-between">
        <h3 className="text-12 text-muted">{title}</h3>
        <span className="data text-faint">
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
          {notches.map(({ index, words }) => (
            <path
              key={`${index} ${words}`}
              d={`M${xOf(scale, index).toFixed(1)} 0v${NOTCH}`}
              stroke="var(--color-muted)"
              strokeWidth="2"
              vectorEffect="non-scaling-stroke"
            />
          ))}
          {ticks.length > 0 && (
            <path
              d={ticks.map((at) => `M${xOf(scale, at).toFixed(1)} ${HEIGHT}v${-TICK}`).join('')}
              stroke="var(--color-bad)"
              vectorEffect="non-scaling-stroke"
            />
          )}
          {drawn.map(({ label, values, color, variant }) =>
            variant === 'band' ? (
              <path key={label} d={areaPath(scale, values)} fill={color} opacity="0.25" />
            ) : (
              <path
                key={label}
                d={linePath(scale, values)}
                fill="none"
                stroke={color}
                strokeWidth="1.5"
                strokeLinecap="round"
                strokeLinejoin="round"
                vectorEffect="non-scaling-stroke"
              />
            ),
          )}
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
          const value = values[cursor ?? values.length - 1];
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
    </div>
  );
});

/** Marks the break of the axis: a hairline with a zigzag at its end. */
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
