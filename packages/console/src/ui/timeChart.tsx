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
  type Scale,
} from '../chart.ts';

/** Units of the drawing; across it is stretched to its place, and one unit down is one pixel. */
const WIDTH = 1000;
const HEIGHT = 96;
/** Between the names of two lines, in pixels. */
const LABEL_STEP = 15;
/** How far a notch reaches down from the upper edge. */
const NOTCH = 8;
/** And a tick up from the lower one. */
const TICK = 5;

export interface Series {
  label: string;
  values: readonly (number | null)[];
  color: string;
  look: 'line' | 'band';
}

/** Something that happened at a step, marked at the upper edge. */
export interface Notch {
  index: number;
  words: string;
}

/** A line along zero says no more than the word for it, and would colour what is well. */
const isSomething = ({ values }: Series): boolean => values.some((value) => (value ?? 0) > 0);

/** Values over time: no frame, a hairline at the top and at zero, each line named at its end. */
export const TimeChart = memo(function TimeChart({
  title,
  summary,
  series,
  format,
  cursor,
  notches,
  ticks = [],
}: {
  title: string;
  /** For those who do not see it. */
  summary: string;
  series: readonly Series[];
  format: (value: number) => string;
  /** Index of the values to read off; null: the newest. */
  cursor: number | null;
  notches: readonly Notch[];
  /** Steps that are marked at the lower edge as bad. */
  ticks?: readonly number[];
}) {
  const drawn = series.filter(isSomething);
  const count = Math.max(0, ...series.map(({ values }) => values.length));
  const top = roundTop(
    drawn.reduce(
      (most, { values }) => values.reduce<number>((max, value) => Math.max(max, value ?? 0), most),
      0,
    ),
  );
  const scale: Scale = { width: WIDTH, height: HEIGHT, top, count };
  const places = spreadLabels(
    drawn.map(({ values }) => yOf(scale, lastValue(values) ?? 0)),
    HEIGHT,
    LABEL_STEP,
  );
  return (
    <div>
      <div className="mr-chart flex items-baseline justify-between">
        <h3 className="text-12 text-muted">{title}</h3>
        <span className="data text-faint">{drawn.length > 0 && format(top)}</span>
      </div>
      <div className="relative h-24">
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
          {drawn.map(({ label, values, color, look }) =>
            look === 'band' ? (
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
        {drawn.length === 0 && (
          <span className="absolute right-0 bottom-0 w-label translate-y-1/2 truncate text-12 text-faint">
            none
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
