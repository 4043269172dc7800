import { FEED_URL } from '@sluice/kit/contract';
import type { DestinationSummary } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { consumersQuery } from '../../../data/queries/streams.ts';
import { lagWords } from './consumerWords.ts';

/**
 * Shows how many deliveries the slowest consumer has not read, if the destination of the stream is a
 * feed.
 */
export function FeedLag({
  streamId,
  destination: { destination, webhookUrl },
}: {
  streamId: string;
  destination: Pick<DestinationSummary, 'destination' | 'webhookUrl'>;
}) {
  const { data = [] } = useQuery({
    ...consumersQuery(streamId, destination),
    enabled: webhookUrl === FEED_URL,
  });
  const lag = lagWords(data);
  if (lag === null) return null;
  return (
    <Link
      from="/streams/$streamId"
      to="/streams/$streamId"
      search={{ tab: 'consumers' }}
      className="control inline-flex items-center text-12 text-muted hover:text-text"
    >
      {lag}
    </Link>
  );
}
