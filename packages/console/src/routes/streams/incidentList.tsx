import type { Incident } from '@sluice/kit/sluice';
import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import type { FleetStream } from '../../data/fleet.ts';
import { StatusShape } from '../../ui/status.tsx';
import { formatCount, formatMoment, formatQuantity, formatSpan } from '../../ui/text/format.ts';
import { nameOfStream } from '../../words/names.ts';
import { affectedStreams } from './affectedStreams.ts';

/** Links are high enough for a finger. */
const LINK = 'inline-flex min-h-6 items-center text-accent hover:underline';

/** Maximum number of incidents shown. More would push the list of streams off the screen. */
const SHOWN_INCIDENTS = 8;

/** Lists incidents with their start and end, and what to do about them. */
export function IncidentList({
  incidents,
  fleet,
  now,
  isOfReceiver = false,
}: {
  incidents: readonly Incident[];
  fleet: readonly FleetStream[];
  now: number;
  /** Whether all are of the receiver whose page shows them. Default: false. */
  isOfReceiver?: boolean;
}) {
  const rest = incidents.length - SHOWN_INCIDENTS;
  return (
    <ul className="mt-1 grid text-12">
      {incidents.slice(0, SHOWN_INCIDENTS).map((incident) => (
        <IncidentLine
          key={incident.id}
          incident={incident}
          fleet={fleet}
          now={now}
          receiver={isOfReceiver ? null : incident.receiver}
        />
      ))}
      {rest > 0 && (
        <li className="text-muted">
          {formatCount(rest)} more: <span className="data">sluice incidents</span>
        </li>
      )}
    </ul>
  );
}

function IncidentLine({
  incident,
  fleet,
  now,
  receiver,
}: {
  incident: Incident;
  fleet: readonly FleetStream[];
  now: number;
  /** The receiver to link to; null for none. */
  receiver: string | null;
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
      {receiver !== null && (
        <Link to="/receivers/$receiver" params={{ receiver }} className={LINK}>
          Open the receiver
        </Link>
      )}
    </li>
  );
}

const OPEN = { shape: 'triangle', tone: 'bad', word: 'open' } as const;
const ENDED = { shape: 'disc', tone: 'ok', word: 'ended' } as const;

/** Links to where the cause can be seen or fixed. */
function IncidentAction({ incident }: { incident: Incident }) {
  const { kind, affected, deliveryId } = incident;
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
