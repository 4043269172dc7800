/* oxlint-disable jsx-a11y/prefer-tag-over-role -- an inline drawing, not an image file */
import { memo } from 'react';
import type { Timeline, TimelineTick, TickFill } from './timeline.ts';

/**
 * Sizes in pixels. `step` is the distance from one tick to the next, `width` the width of a tick,
 * and `height` its maximum height.
 */
const SIZES = {
  row: { step: 3, width: 2, height: 18 },
  dry: { step: 8, width: 6, height: 32 },
  /** At one pixel per block, hundreds of blocks fit the width of a phone. */
  long: { step: 1, width: 1, height: 32 },
} as const;
type Size = (typeof SIZES)[keyof typeof SIZES];

/** Height in pixels of the tick of a block without matches, a dash on the base line. */
const BASE = 1.5;

const COLORS: Record<TickFill, string> = {
  empty: 'var(--color-line-strong)',
  unknown: 'var(--color-line)',
  hollow: 'var(--color-text)',
  solid: 'var(--color-text)',
  waiting: 'var(--color-info)',
  failed: 'var(--color-bad)',
  reorged: 'var(--color-reorg)',
};

interface Ink {
  color: string;
  isOutline: boolean;
}

/**
 * Combines ticks of the same color and style into one path, because a page has hundreds of ticks.
 */
function toPaths(ticks: readonly TimelineTick[], size: Size): [Ink, string][] {
  const paths = new Map<string, [Ink, string]>();
  const draw = (color: string, isOutline: boolean, shape: string): void => {
    const key = `${color} ${isOutline}`;
    const [ink, before] = paths.get(key) ?? [{ color, isOutline }, ''];
    paths.set(key, [ink, before + shape]);
  };
  ticks.forEach(({ height, fill }, index) => {
    const x = index * size.step;
    const tall = height === 0 ? BASE : Math.max(4, Math.round(height * (size.height - 1)));
    const y = size.height - tall;
    const isThin = size.width < 3;
    if (fill === 'hollow' && !isThin) {
      draw(COLORS.hollow, true, box(x + 0.5, y + 0.5, size.width - 1, tall - 1));
    } else {
      // A hollow tick that is too thin for an outline is filled with a fainter color.
      const color = fill === 'hollow' ? 'var(--color-faint)' : COLORS[fill];
      draw(color, false, box(x, y, size.width, tall));
    }
    if (fill === 'reorged') {
      draw(COLORS.reorged, true, `M${x - 1.5} ${size.height - 1}L${x + size.width + 1.5} ${y}`);
    }
  });
  return [...paths.values()];
}

const box = (x: number, y: number, width: number, height: number): string =>
  `M${x} ${y}h${width}v${height}h${-width}z`;

/**
 * Draws a tick per block, newest on the right. A taller tick means more matches or records. The
 * notch below the base line marks the last final block.
 */
export const BlockTimeline = memo(function BlockTimeline({
  timeline,
  length,
  label,
  size: sizeName = 'row',
}: {
  timeline: Timeline;
  size?: keyof typeof SIZES;
  /** Maximum number of ticks; with fewer blocks, the left side is empty. */
  length: number;
  label: string;
}) {
  const size = SIZES[sizeName];
  const width = length * size.step;
  const height = size.height + 3;
  const offset = (length - timeline.ticks.length) * size.step;
  const boundary = (length - timeline.unconfirmed) * size.step - 1;
  return (
    <svg
      role="img"
      aria-label={label}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      className="block shrink-0 overflow-visible"
    >
      <g transform={`translate(${offset} 0)`}>
        {toPaths(timeline.ticks, size).map(([{ color, isOutline }, shape]) => (
          <path
            key={`${color} ${isOutline}`}
            d={shape}
            {...(isOutline ? { fill: 'none', stroke: color } : { fill: color })}
          />
        ))}
      </g>
      {timeline.unconfirmed > 0 && timeline.unconfirmed < length && (
        <rect x={boundary} y={size.height + 1} width="1" height="2" fill="var(--color-muted)" />
      )}
    </svg>
  );
});
