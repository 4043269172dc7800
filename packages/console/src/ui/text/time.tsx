import { useAgeStyle, useZone } from '../preferences.ts';
import { useNow } from './clock.ts';
import { formatAgo, formatDateTime, formatMoment } from './format.ts';

/** An age that updates, with the exact time on hover; or the time, if the user prefers that. */
export function Ago({ timeMs }: { timeMs: number }) {
  const now = useNow();
  useZone();
  const isRelative = useAgeStyle() === 'relative';
  return (
    <time
      dateTime={new Date(timeMs).toISOString()}
      title={isRelative ? formatDateTime(timeMs) : formatAgo(timeMs, now)}
    >
      {isRelative ? formatAgo(timeMs, now) : formatMoment(timeMs, now)}
    </time>
  );
}

/** A date and time to the second. */
export function DateTime({ timeMs }: { timeMs: number }) {
  useZone();
  return <time dateTime={new Date(timeMs).toISOString()}>{formatDateTime(timeMs)}</time>;
}
