import { clsx } from 'clsx';
import { timeTicks } from './timeTicks.ts';

/** Width in pixels of a label, with space. */
const TICK_PX = 56;

/** Labels the time below a picture with a column per step. */
export function TimeAxis({
  from,
  stepMs,
  count,
  width,
  className,
}: {
  /** Start of the first step, in Unix milliseconds. */
  from: number;
  stepMs: number;
  /** Number of steps. */
  count: number;
  /** Width of the picture in pixels. */
  width: number;
  className: string;
}) {
  const ticks = timeTicks({ from, stepMs, count, most: Math.max(1, Math.floor(width / TICK_PX)) });
  const isInside = (place: number): boolean =>
    place * width > TICK_PX / 2 && (1 - place) * width > TICK_PX / 2;
  return (
    <div aria-hidden="true" className={clsx('relative h-4', className)}>
      {ticks
        .filter(({ place }) => isInside(place))
        .map(({ place, label }) => (
          <span
            key={place}
            className="data absolute -translate-x-1/2 text-11 text-faint"
            style={{ left: `${place * 100}%` }}
          >
            {label}
          </span>
        ))}
    </div>
  );
}
