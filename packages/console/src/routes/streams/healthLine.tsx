import type { Incident } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import type { FleetStream } from '../../data/fleet.ts';
import { incidentsQuery } from '../../data/queries/incidents.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { StatusShape, type Tone } from '../../ui/status.tsx';
import { useNow } from '../../ui/text/clock.ts';
import { formatCount, formatMoment, formatQuantity, formatSpan } from '../../ui/text/format.ts';
import { nameOfStream } from '../../words/names.ts';
import { affectedStreams, describeHealth, describeIncidents, recentIncidents } from './health.ts';

/** Links are high enough for a finger. */
const LINK = 'inline-flex min-h-6 items-center text-accent hover:underline';

const TONES: Partial<Record<Tone, string>> = { warn: 'text-warn', bad: 'text-bad' };

/** Maximum number of incidents shown. More would push the list of streams off the screen. */
const SHOWN_INCIDENTS = 8;

/** Shows in one sentence whether all is well, and lists on demand what fails or failed, by cause. */
export function HealthLine({
  fleet,
  chains,
}: {
  fleet: readonly FleetStream[] | undefined;
  chains: ReadonlyMap<string, WatchedChain>;
}) {
  const now = useNow();
  const { data = [] } = useQuery(incidentsQuery);
  const incidents = recentIncidents(data, now);
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
              {describeIncidents(incidents)}
            </span>
          </summary>
          <ul className="mt-1 grid text-12">
            {incidents.slice(0, SHOWN_INCIDENTS).map((incident) => (
              <IncidentLine key={incident.id} incident={incident} fleet={fleet ?? []} now={now} />
            ))}
            {rest > 0 && (
              <li className="text-muted">
                {formatCount(rest)} more: <span className="data">sluice incidents</span>
              </li>
            )}
          </ul>
        </details>
      )}
    </section>
  );
}

function IncidentLine({
  incident,
  fleet,
  now,
}: {
  incident: Incident;
  fleet: readonly FleetStream[];
  now: number;
}) {
  const { cause, affectedCount, startedAt, endedAt } = incident;
  const streams = affectedStreams(incident, fleet);
  const count = Math.max(affectedCount, streams.length);
  const waiting = streams.reduce((total, { stream }) => total + stream.queue, 0);
  const [first] = streams;
  const about = [
    count > 0 &&
      (count === 1 && first !== undefined
        ? nameOfStream(first.stream)
        : formatQuantity(count, 'stream')),
    endedAt === null
      ? `since ${formatMoment(startedAt, now)}`
      : `${formatMoment(startedAt, now)} to ${formatMoment(endedAt, now)}, ${formatSpan(endedAt - startedAt)}`,
    endedAt === null && waiting > 0 && `${formatCount(waiting)} waiting`,
  ].filter((part) => part !== false);
  return (
    <li className={clsx('flex flex-wrap items-center gap-x-3', endedAt !== null && 'text-muted')}>
      <StatusShape condition={endedAt === null ? OPEN : ENDED} />
      <span className="min-w-0 wrap-anywhere">{cause}</span>
      <span className="min-w-0 wrap-anywhere text-muted">{about.join(' · ')}</span>
      <IncidentAction incident={incident} />
    </li>
  );
}

const OPEN = { shape: 'triangle', tone: 'bad', word: 'open' } as const;
const ENDED = { shape: 'disc', tone: 'ok', word: 'ended' } as const;

/** Links to where the cause can be seen or fixed. */
function IncidentAction({ incident: { kind, affected, deliveryId } }: { incident: Incident }) {
  if (deliveryId !== null) {
    return (
      <Link to="/deliveries/$deliveryId" params={{ deliveryId }} className={LINK}>
        Open the last failure
      </Link>
    );
  }
  const streamId = affected[0]?.streamId;
  if (streamId !== undefined) {
    return (
      <Link to="/streams/$streamId" params={{ streamId }} className={LINK}>
        Open the stream
      </Link>
    );
  }
  if (kind !== 'chain') return null;
  return (
    <Link to="/chains" className={LINK}>
      Open chains
    </Link>
  );
}
