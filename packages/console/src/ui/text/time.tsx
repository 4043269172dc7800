import { useNow } from './clock.ts';
import { formatAgo, formatDateTime } from './format.ts';

/** A relative time that updates, with the exact time on hover. */
export function Ago({ timeMs }: { timeMs: number }) {
  const now = useNow();
  return (
    <time dateTime={new Date(timeMs).toISOString()} title={formatDateTime(timeMs)}>
      {formatAgo(timeMs, now)}
    </time>
  );
}
