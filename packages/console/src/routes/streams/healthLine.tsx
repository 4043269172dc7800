import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { useMemo } from 'react';
import type { FleetStream } from '../../data/fleet.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { StatusShape, type Tone } from '../../ui/status.tsx';
import { useNow } from '../../ui/text/clock.ts';
import { formatCount, formatMoment, formatQuantity } from '../../ui/text/format.ts';
import { nameOfStream } from '../../words/names.ts';
import { describeHealth, type Incident, toIncidents } from './health.ts';

/** Links are high enough for a finger. */
const LINK = 'inline-flex min-h-6 items-center hover:underline';

const TONES: Partial<Record<Tone, string>> = { warn: 'text-warn', bad: 'text-bad' };

/** Maximum number of incidents shown. More would push the list of streams off the screen. */
const SHOWN_INCIDENTS = 8;

/** Shows in one sentence whether all is well, and lists on demand what fails, by cause. */
export function HealthLine({
  fleet,
  chains,
}: {
  fleet: readonly FleetStream[] | undefined;
  chains: ReadonlyMap<string, WatchedChain>;
}) {
  const incidents = useMemo(() => toIncidents(fleet ?? [], chains), [fleet, chains]);
  const health = fleet && describeHealth(fleet, [...chains.values()]);
  const rest = incidents.length - SHOWN_INCIDENTS;
  const sentence = health && (
    <>
      <StatusShape condition={health} />
      <span className="min-w-0">{health.word}</span>
    </>
  );
  const line = clsx('flex min-h-6 items-center gap-1.5', TONES[health?.tone ?? 'muted']);
  return (
    <section aria-label="Health" className="border-b border-line px-4 py-1.5">
      {incidents.length === 0 ? (
        <p className={line}>{sentence}</p>
      ) : (
        // Closed at first, because the list below would move when the incidents load.
        <details>
          <summary className={clsx(line, 'cursor-pointer')}>
            {sentence}
            <span className="whitespace-nowrap text-muted underline underline-offset-2">
              {formatQuantity(incidents.length, 'cause')}
            </span>
          </summary>
          <ul className="mt-1 grid text-12">
            {incidents.slice(0, SHOWN_INCIDENTS).map((incident) => (
              <IncidentLine key={incident.cause} incident={incident} />
            ))}
            {rest > 0 && (
              <li>
                <Link to="/" search={{ show: 'failing' }} className={`${LINK} text-muted`}>
                  {formatCount(rest)} more
                </Link>
              </li>
            )}
          </ul>
        </details>
      )}
    </section>
  );
}

function IncidentLine({ incident }: { incident: Incident }) {
  const now = useNow();
  const { cause, chainId, streams, since, waiting, latest } = incident;
  const [first] = streams;
  const about = [
    first !== undefined && streams.length === 1
      ? nameOfStream(first.stream)
      : formatQuantity(streams.length, 'stream'),
    since !== null && `since ${formatMoment(since, now)}`,
    waiting > 0 && `${formatCount(waiting)} waiting`,
  ].filter((part) => part !== false);
  return (
    <li className="flex flex-wrap items-center gap-x-3">
      <span className="min-w-0 wrap-anywhere">{cause}</span>
      <span className="min-w-0 wrap-anywhere text-muted">{about.join(' · ')}</span>
      {chainId === undefined ? (
        latest !== undefined && (
          <Link
            to="/deliveries/$deliveryId"
            params={{ deliveryId: latest.id }}
            className={`${LINK} text-accent`}
          >
            Open the last failure
          </Link>
        )
      ) : (
        <Link to="/chains" className={`${LINK} text-accent`}>
          Open chains
        </Link>
      )}
    </li>
  );
}
