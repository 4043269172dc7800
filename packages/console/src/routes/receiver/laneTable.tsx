import type { BackOff } from '@sluice/kit/sluice';
import { Link } from '@tanstack/react-router';
import { Status } from '../../ui/status.tsx';
import { useNow } from '../../ui/text/clock.ts';
import { formatAgo, formatCount, formatDuration, formatSpan } from '../../ui/text/format.ts';
import { destinationCondition } from '../../words/condition.ts';
import { nameOfDestination } from '../../words/destinations.ts';
import { nameOfStream } from '../../words/names.ts';
import type { ReceiverLane } from './receiverLanes.ts';

const COLUMNS = ['State', 'Waiting', 'p95', 'Last delivery'] as const;

/** Lists the streams that send to a receiver. */
export function LaneTable({ lanes }: { lanes: readonly ReceiverLane[] }) {
  return (
    <div className="relative overflow-x-auto">
      <table className="w-full max-w-220 border-collapse">
        <caption className="caps text-left">Streams {formatCount(lanes.length)}</caption>
        <thead>
          <tr className="border-b border-line text-left">
            <th scope="col" className="caps py-1">
              Stream
            </th>
            {COLUMNS.map((head, index) => (
              <th key={head} scope="col" className={`caps pl-3 ${index > 0 ? 'text-right' : ''}`}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lanes.map((lane) => (
            <LaneRow key={`${lane.row.stream.id} ${lane.its.destination}`} lane={lane} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Returns when a backed-off destination is sent to again. */
function nextAttempt({ reason, until }: BackOff, now: number): string {
  const what = reason === 'failures' ? 'probe' : 'resumes';
  return until <= now ? `${what} now` : `${what} in ${formatSpan(until - now)}`;
}

function LaneRow({ lane: { row, its } }: { lane: ReceiverLane }) {
  const now = useNow();
  const { stream } = row;
  const isOwn = its.destination === 0;
  return (
    <tr className="border-b border-line">
      <th scope="row" className="min-w-32 py-1 text-left font-normal">
        <Link
          to="/streams/$streamId"
          params={{ streamId: stream.id }}
          {...(!isOwn && { search: { destination: its.destination } })}
          className="inline-flex min-h-6 items-center font-medium hover:underline"
        >
          {nameOfStream(stream)}
        </Link>
        {!isOwn && (
          <span className="text-12 text-muted">
            {' '}
            destination {nameOfDestination(its.destination, stream)}
          </span>
        )}
      </th>
      <td className="pl-3">
        <span className="flex flex-wrap items-center gap-x-3">
          <Status condition={isOwn ? row.condition : destinationCondition(its)} />
          {its.backOff !== null && (
            <span className="text-12 whitespace-nowrap text-muted">
              {nextAttempt(its.backOff, now)}
            </span>
          )}
        </span>
      </td>
      {[
        formatCount(its.queue),
        // The summary has the response time of the webhook URL only.
        isOwn && stream.p95Ms !== null ? formatDuration(stream.p95Ms) : '–',
        its.lastDeliveryAt === null ? '–' : formatAgo(its.lastDeliveryAt, now),
      ].map((text, index) => (
        <td key={index} className="data pl-3 text-right whitespace-nowrap">
          {text}
        </td>
      ))}
    </tr>
  );
}
