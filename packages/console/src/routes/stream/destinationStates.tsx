import { Link } from '@tanstack/react-router';
import type { FleetStream } from '../../data/fleet.ts';
import { Status } from '../../ui/status.tsx';
import { formatCount } from '../../ui/text/format.ts';
import { destinationCondition } from '../../words/condition.ts';
import { listDestinations, nameOfDestination } from '../../words/destinations.ts';
import { FeedLag } from './consumers/feedLag.tsx';

/**
 * Lists the destinations of a stream with their state, queue and feed lag, as links to their
 * deliveries; renders nothing for a stream with one destination.
 */
export function DestinationStates({ row: { stream, isFailing } }: { row: FleetStream }) {
  if (stream.destinations.length === 0) return null;
  return (
    <ul aria-label="Destinations" className="flex flex-wrap gap-x-5 px-4 pb-2">
      {listDestinations(stream).map((its) => {
        const { destination, webhookUrl, queue } = its;
        // The newest deliveries show failures of the webhook URL before its circuit breaker opens.
        const status = destination === 0 && isFailing ? 'error' : its.status;
        return (
          <li key={destination} className="flex min-w-0 flex-wrap items-center gap-x-2">
            <Link
              from="/streams/$streamId"
              to="/streams/$streamId"
              search={{ destination }}
              data-tip={webhookUrl}
              className="control inline-flex min-w-0 items-center hover:underline"
            >
              <span className="data min-w-0 truncate">
                {nameOfDestination(destination, stream)}
              </span>
            </Link>
            <Status condition={destinationCondition({ ...its, status })} />
            {queue > 0 && <span className="text-12 text-muted">{formatCount(queue)} queued</span>}
            <FeedLag streamId={stream.id} destination={its} />
          </li>
        );
      })}
    </ul>
  );
}
