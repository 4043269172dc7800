import { setZone, useZone } from '../../ui/preferences.ts';
import { Button } from '../../ui/button.tsx';
import { useNow } from '../../ui/text/clock.ts';
import { zoneName } from '../../ui/text/timeZone.ts';

/** Shows the time zone of all times, and switches between the browser's zone and UTC. */
export function ZoneSwitch() {
  const zone = useZone();
  const isLocal = zone === 'local';
  // The offset changes with daylight saving time.
  const now = useNow();
  const name = isLocal ? zoneName(now) : 'UTC';
  const label = `Times are in ${name}. Switch to ${isLocal ? 'UTC' : 'local time'}`;
  return (
    <Button
      variant="quiet"
      className="data max-sm:hidden"
      aria-label={label}
      title={label}
      onClick={() => setZone(isLocal ? 'utc' : 'local')}
    >
      {name}
    </Button>
  );
}
