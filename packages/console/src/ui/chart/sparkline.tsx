/* oxlint-disable jsx-a11y/prefer-tag-over-role -- an inline drawing, not an image file */
import { memo } from 'react';

const WIDTH = 92;
const HEIGHT = 18;

/** Draws a line on a scale from zero, without frame or axis, because the numbers are next to it. */
export const Sparkline = memo(function Sparkline({
  values,
  label,
}: {
  values: readonly number[];
  label: string;
}) {
  const top = Math.max(...values, 1);
  const x = (index: number): number => (index / Math.max(1, values.length - 1)) * (WIDTH - 4) + 1;
  const y = (value: number): number => HEIGHT - 2 - (value / top) * (HEIGHT - 5);
  const points = values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`);
  const last = values.at(-1) ?? 0;
  const quiet = values.every((value) => value === 0);
  return (
    <svg
      role="img"
      aria-label={label}
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      className="block shrink-0"
    >
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke={quiet ? 'var(--color-line)' : 'var(--color-muted)'}
        strokeWidth="1.25"
        strokeLinejoin="round"
      />
      {!quiet && (
        <circle cx={x(values.length - 1)} cy={y(last)} r="1.75" fill="var(--color-text)" />
      )}
    </svg>
  );
});
