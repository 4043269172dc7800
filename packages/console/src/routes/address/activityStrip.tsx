/* oxlint-disable jsx-a11y/prefer-tag-over-role -- a drawing, not an image file */
import type { DeliverySummary } from '@sluice/kit/sluice';
import { useMemo } from 'react';
import { formatDateTime, formatQuantity, formatSpan } from '../../ui/text/format.ts';
import { useNow } from '../../ui/text/clock.ts';
import { useZone } from '../../ui/preferences.ts';
import { toActivity } from './activity.ts';

/** Interval at which the strip moves. */
const MOVE_MS = 5_000;
/** Height of the highest bar in pixels. */
const HEIGHT = 40;
/** Height of a bar with one delivery, which is still easy to see. */
const LEAST = 4;

/** Draws the deliveries of an address over time; failures are on top of each bar. */
export function ActivityStrip({ deliveries }: { deliveries: readonly DeliverySummary[] }) {
  useZone();
  const now = Math.floor(useNow() / MOVE_MS) * MOVE_MS;
  const { bars, stepMs } = useMemo(() => toActivity(deliveries, now), [deliveries, now]);
  const most = Math.max(...bars.map(({ count }) => count), 1);
  const since = formatDateTime(bars[0]?.from ?? now);
  const all = { count: 0, failed: 0 };
  for (const { count, failed } of bars) {
    all.count += count;
    all.failed += failed;
  }
  return (
    <figure className="px-4 py-2">
      <div
        role="img"
        aria-label={`Activity: ${wordsOf(all)} since ${since}`}
        className="flex items-end gap-px border-b border-line"
        style={{ height: HEIGHT }}
      >
        {bars.map(({ from, count, failed }) => {
          const height = count === 0 ? 0 : LEAST + (HEIGHT - LEAST) * (count / most);
          return (
            <span
              key={from}
              data-tip={
                count === 0 ? undefined : `${wordsOf({ count, failed })}, ${formatDateTime(from)}`
              }
              className="flex min-w-0 flex-1 flex-col bg-muted"
              style={{ height }}
            >
              <span className="bg-bad" style={{ height: `${(100 * failed) / (count || 1)}%` }} />
            </span>
          );
        })}
      </div>
      <figcaption className="data mt-1 flex justify-between text-12 text-faint">
        <span>{since.slice(0, 16)}</span>
        <span>{formatSpan(stepMs)} per bar</span>
        <span>now</span>
      </figcaption>
    </figure>
  );
}

function wordsOf({ count, failed }: { count: number; failed: number }): string {
  const failures = failed === 0 ? '' : `, ${failed} failed`;
  return `${formatQuantity(count, 'delivery', 'deliveries')}${failures}`;
}
