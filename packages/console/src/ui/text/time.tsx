import { useAgeStyle, useZone } from '../preferences.ts';
import { useNow } from './clock.ts';
import { formatAgo, formatDateTime, formatMoment } from './format.ts';

/**
 * Shows a time as an age that updates, with the absolute time in the tooltip; vice versa if the
 * user prefers absolute times.
 */
export function Ago({ timeMs }: { timeMs: number }) {
  const now = useNow();
  useZone();
  const isRelative = useAgeStyle() === 'relative';
  return (
    <time
      dateTime={new Date(timeMs).toISOString()}
      data-tip={isRelative ? formatDateTime(timeMs) : formatAgo(timeMs, now)}
    >
      {isRelative ? formatAgo(timeMs, now) : formatMoment(timeMs, now)}
    </time>
  );
}

/** Shows a date and time to the second. */
export function DateTime({ timeMs }: { timeMs: number }) {
  useZone();
  return <time dateTime={new Date(timeMs).toISOString()}>{formatDateTime(timeMs)}</time>;
}
