/* oxlint-disable jsx-a11y/prefer-tag-over-role -- an inline drawing, not an image file */
import { memo } from 'react';
import { areaPath, linePath, roundTop, xOf, type Scale } from '../chart.ts';

/** Units of the drawing; it is stretched to its place. */
const WIDTH = 1000;
const HEIGHT = 96;

export interface Series {
  label: string;
  values: readonly (number | null)[];
  color: string;
  look: 'line' | 'band';
}

/** A line along zero says no more than the number beside its name, and would colour what is well. */
const isSomething = ({ values }: Series): boolean => values.some((value) => (value ?? 0) > 0);

/** Values over time: no frame, one hairline at the top, the names beside the lines. */
export const TimeChart = memo(function TimeChart({
  title,
  summary,
  series,
  format,
  cursor,
}: {
  title: string;
  /** For those who do not see it. */
  summary: string;
  series: readonly Series[];
  format: (value: number) => string;
  /** Index of the values to read off; null: the newest. */
  cursor: number | null;
}) {
  const count = Math.max(0, ...series.map(({ values }) => values.length));
  const top = roundTop(
    series.reduce(
      (most, { values }) => values.reduce<number>((max, value) => Math.max(max, value ?? 0), most),
      0,
    ),
  );
  const scale: Scale = { width: WIDTH, height: HEIGHT, top, count };
  return (
    <div>
      <div className="flex flex-wrap items-baseline gap-x-4">
        <h3 className="text-12 text-muted">{title}</h3>
        {series.map(({ label, values, color }) => {
          const value = values[cursor ?? values.length - 1];
          return (
            <span key={label} className="data inline-flex items-center gap-1.5">
              <span aria-hidden="true" className="h-0.5 w-3" style={{ background: color }} />
              <span className="text-muted">{label}</span>
              {value == null ? '–' : format(value)}
            </span>
          );
        })}
        <span className="data ml-auto text-faint">{format(top)}</span>
      </div>
      <svg
        role="img"
        aria-label={summary}
        viewBox={`0 -1 ${WIDTH} ${HEIGHT + 2}`}
        preserveAspectRatio="none"
        className="block h-24 w-full overflow-visible border-t border-b border-line"
      >
        {series
          .filter(isSomething)
          .map(({ label, values, color, look }) =>
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
    </div>
  );
});
