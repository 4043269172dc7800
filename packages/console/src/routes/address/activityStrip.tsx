import type { DeliverySummary } from '@sluice/kit/sluice';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { formatDateTime, formatQuantity, formatSpan } from '../../ui/text/format.ts';
import { useNow } from '../../ui/text/clock.ts';
import { useZone } from '../../ui/preferences.ts';
import { type ActivityBar, toActivity } from './activity.ts';

/** Interval at which the strip moves. */
const MOVE_MS = 5_000;
/** Height of the highest bar in pixels. */
const HEIGHT = 40;
/** Height of a bar with one delivery, which is still easy to see and click. */
const LEAST = 4;

/** Draws the deliveries of an address over time. Each bar links to its deliveries in the list. */
export function ActivityStrip({
  deliveries,
  address,
}: {
  /** Newest first. */
  deliveries: readonly DeliverySummary[];
  address: string;
}) {
  useZone();
  const now = Math.floor(useNow() / MOVE_MS) * MOVE_MS;
  const { bars, stepMs } = useMemo(() => toActivity(deliveries, now), [deliveries, now]);
  const most = Math.max(...bars.map(({ count }) => count), 1);
  const heightOf = (count: number): number =>
    count === 0 ? 0 : LEAST + (HEIGHT - LEAST) * (count / most);
  const [first] = bars;
  return (
    <figure className="px-4 py-2">
      <ul aria-label="Activity" className="flex items-end gap-px" style={{ height: HEIGHT }}>
        {bars.map((bar) => (
          <li key={bar.from} className="flex h-full min-w-0 flex-1 items-end border-b border-line">
            {bar.count > 0 && (
              <Link
                to="/addresses/$address"
                params={{ address }}
                search={{ from: bar.from, until: bar.from + stepMs - 1 }}
                aria-label={wordsOf(bar)}
                data-tip={wordsOf(bar)}
                activeProps={{}}
                className="flex h-full w-full flex-col justify-end hover:bg-raised"
              >
                <span
                  className="bg-bad"
                  style={{ height: heightOf(bar.count) - heightOfRest(bar) }}
                />
                <span className="bg-muted" style={{ height: heightOfRest(bar) }} />
              </Link>
            )}
          </li>
        ))}
      </ul>
      <figcaption className="data mt-1 flex justify-between text-12 text-faint">
        <span>{first !== undefined && formatDateTime(first.from).slice(0, 16)}</span>
        <span>{formatSpan(stepMs)} per bar</span>
        <span>now</span>
      </figcaption>
    </figure>
  );

  /** Returns the height of the deliveries of a bar that did not fail. */
  function heightOfRest({ count, failed }: ActivityBar): number {
    return heightOf(count) * (1 - failed / count);
  }
}

function wordsOf({ from, count, failed }: ActivityBar): string {
  const failures = failed === 0 ? '' : `, ${failed} failed`;
  return `${formatQuantity(count, 'delivery', 'deliveries')}${failures}, from ${formatDateTime(from)}`;
}
