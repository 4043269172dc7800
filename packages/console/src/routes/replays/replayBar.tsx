/* oxlint-disable jsx-a11y/prefer-tag-over-role -- an inline drawing, not an image file */
import type { Replay } from '@sluice/kit/sluice';
import { formatCount } from '../../ui/text/format.ts';
import { progressOf } from '../../data/replayStatus.ts';

const WIDTH = 1000;

/** Draws the results so far and the remaining deliveries in proportion. */
export function ReplayBar({ replay, className }: { replay: Replay; className: string }) {
  const { succeeded, failed, waiting } = replay;
  const { total, left, elsewhere } = progressOf(replay);
  const parts = [
    { name: 'delivered', count: succeeded, color: 'var(--color-muted)' },
    { name: 'failed', count: failed, color: 'var(--color-bad)' },
    { name: 'waiting', count: waiting, color: 'var(--color-info)' },
    { name: 'replayed again or deleted', count: elsewhere, color: 'var(--color-line-strong)' },
    { name: 'left', count: left, color: 'var(--color-line)' },
  ].filter(({ count }) => count > 0);
  let x = 0;
  return (
    <svg
      role="img"
      aria-label={parts.map(({ name, count }) => `${formatCount(count)} ${name}`).join(', ')}
      viewBox={`0 0 ${WIDTH} 8`}
      preserveAspectRatio="none"
      className={`block h-1.5 bg-line ${className}`}
    >
      {parts.map(({ name, count, color }) => {
        const from = x;
        // Minimum width, so that a single failure among many is visible.
        const width = Math.max((count / total) * WIDTH, 4);
        x += width;
        return <rect key={name} x={from} width={width} height="8" fill={color} />;
      })}
    </svg>
  );
}
