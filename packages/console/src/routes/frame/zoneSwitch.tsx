import { clsx } from 'clsx';
import { setZone, useZone } from '../../ui/preferences.ts';
import { Button } from '../../ui/button.tsx';
import { useNow } from '../../ui/text/clock.ts';
import { zoneName } from '../../ui/text/timeZone.ts';

/**
 * Shows the time zone in which times are displayed, and switches between the browser's zone and
 * UTC.
 */
export function ZoneSwitch({
  className,
  prefix = '',
}: {
  className: string;
  /** Text before the name of the zone. */
  prefix?: string;
}) {
  const zone = useZone();
  const isLocal = zone === 'local';
  // The name contains the offset from UTC, which changes with daylight saving time.
  const now = useNow();
  const name = isLocal ? zoneName(now) : 'UTC';
  const label = `Times are in ${name}. Switch to ${isLocal ? 'UTC' : 'local time'}`;
  return (
    <Button
      variant="quiet"
      className={clsx('data', className)}
      aria-label={label}
      data-tip={label}
      onClick={() => setZone(isLocal ? 'utc' : 'local')}
    >
      {prefix}
      {name}
    </Button>
  );
}
