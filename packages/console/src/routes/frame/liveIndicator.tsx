import { useNow } from '../../ui/text/clock.ts';
import { formatSpan, formatClock } from '../../ui/text/format.ts';
import { useLiveStatus, type LiveStatus } from '../../data/live/live.ts';

function words({ state, since }: LiveStatus, now: number): string {
  switch (state) {
    case 'connecting':
      return 'connecting';
    case 'live':
      return 'live';
    case 'reconnecting':
      return `reconnecting ${formatSpan(now - since)}`;
    case 'closed':
      return 'disconnected';
  }
}

/** Shows whether the page still receives live events. */
export function LiveIndicator() {
  const status = useLiveStatus();
  const now = useNow();
  const open = status.state === 'live';
  return (
    <span className="inline-flex items-center gap-1.5 text-12 whitespace-nowrap">
      <svg
        viewBox="0 0 12 12"
        aria-hidden="true"
        className={open ? 'size-2.5 text-accent' : 'size-2.5 text-warn'}
      >
        {open ? (
          <circle cx="6" cy="6" r="4" fill="currentColor" />
        ) : (
          <circle
            cx="6"
            cy="6"
            r="3.5"
            fill="none"
            stroke="currentColor"
            strokeWidth="1.5"
            strokeDasharray="2.2 1.5"
          />
        )}
      </svg>
      <span
        className={open ? 'text-muted' : 'text-warn'}
        data-tip={`since ${formatClock(status.since).slice(0, 8)}`}
      >
        {words(status, now)}
      </span>
    </span>
  );
}

/**
 * Announces a lost connection to screen readers only once, because the visible text changes every
 * second.
 */
export function LiveAnnouncement() {
  const { state } = useLiveStatus();
  return (
    <output className="sr-only">
      {state === 'reconnecting' ? 'Connection to the service lost. Reconnecting.' : ''}
    </output>
  );
}
