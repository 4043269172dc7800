import { FEED_URL } from '@sluice/kit/contract';
import type { StreamSummary } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { consumersQuery } from '../../../data/queries/streams.ts';
import { lagWords } from './consumerWords.ts';

/** Shows how many deliveries the slowest consumer of a feed has not read. */
export function FeedLag({ stream: { id, webhookUrl } }: { stream: StreamSummary }) {
  const { data = [] } = useQuery({ ...consumersQuery(id), enabled: webhookUrl === FEED_URL });
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
