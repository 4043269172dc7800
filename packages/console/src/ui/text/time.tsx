import { useNow } from './clock.ts';
import { formatAgo, formatDateTime } from './format.ts';

/** How long ago, kept current; the exact time on hover. */
export function Ago({ timeMs }: { timeMs: number }) {
  const now = useNow();
  return (
    <time dateTime={new Date(timeMs).toISOString()} title={formatDateTime(timeMs)}>
      {formatAgo(timeMs, now)}
    </time>
  );
}
