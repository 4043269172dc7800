import { FEED_URL } from '@sluice/kit/contract';
import type { FeedConsumer, StreamSummary } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { consumersQuery } from '../../../data/queries/streams.ts';
import { buttonClass } from '../../../ui/button.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { Command } from '../../../ui/text/command.tsx';
import { listDestinations, nameOfDestination } from '../../../words/destinations.ts';
import { ErrorPanel } from '../../../words/errorPanel.tsx';
import { ConsumerTable } from './consumerTable.tsx';
import { readCommand } from './consumerWords.ts';
import { DeleteConsumer } from './deleteConsumer.tsx';
import { ResetConsumer } from './resetConsumer.tsx';

/** Lists the consumers of the feeds of a stream with their progress; resets and deletes them. */
export function ConsumersTab({ stream }: { stream: StreamSummary }) {
  const feeds = listDestinations(stream).filter(({ webhookUrl }) => webhookUrl === FEED_URL);
  if (feeds.length === 0) return <NotAFeed />;
  return feeds.map(({ destination }) => (
    <section
      key={destination}
      aria-label={feeds.length > 1 ? `Consumers of destination ${destination}` : 'Consumers'}
      className="min-w-0"
    >
      {feeds.length > 1 && (
        <h3 className="caps px-4 pt-4 pb-1">
          Destination {nameOfDestination(destination, stream)}
        </h3>
      )}
      <FeedConsumers stream={stream} destination={destination} />
    </section>
  ));
}

function FeedConsumers({ stream, destination }: { stream: StreamSummary; destination: number }) {
  const consumers = useQuery(consumersQuery(stream.id, destination));
  const [resetting, setResetting] = useState<string | null>(null);
  const [deleting, setDeleting] = useState<string | null>(null);
  const find = (name: string | null): FeedConsumer | undefined =>
    consumers.data?.find((each) => each.name === name);
  const [toReset, toDelete] = [find(resetting), find(deleting)];
  const feed = { stream, destination };
  return (
    <>
      {consumers.isError && (
        <ErrorPanel
          what="Couldn't load consumers"
          error={consumers.error}
          onRetry={() => void consumers.refetch()}
          stale={consumers.data !== undefined}
        />
      )}
      {consumers.isPending && <Loading className="p-4" />}
      {consumers.data?.length === 0 && <NoConsumers {...feed} />}
      {consumers.data !== undefined && consumers.data.length > 0 && (
        <ConsumerTable consumers={consumers.data} onReset={setResetting} onDelete={setDeleting} />
      )}
      {toReset !== undefined && (
        <ResetConsumer {...feed} consumer={toReset} onClose={() => setResetting(null)} />
      )}
      {toDelete !== undefined && (
        <DeleteConsumer {...feed} consumer={toDelete} onClose={() => setDeleting(null)} />
      )}
    </>
  );
}

function NotAFeed() {
  return (
    <section aria-label="Consumers" className="px-4 py-6">
      <p className="font-medium">Not a feed</p>
      <p className="mt-1 text-muted">
        The stream sends its webhooks. Only destinations with the URL {FEED_URL} have consumers.
      </p>
      <Link
        from="/streams/$streamId"
        to="/streams/$streamId"
        search={{ tab: 'settings' }}
        className={`${buttonClass('plain')} mt-3`}
      >
        Edit webhook URL
      </Link>
    </section>
  );
}

function NoConsumers({ stream, destination }: { stream: StreamSummary; destination: number }) {
  return (
    <div className="max-w-180 px-4 py-6">
      <p className="font-medium">No consumers yet</p>
      <p className="mt-1 text-muted">
        The programs that read this feed are listed here. The first read of a consumer creates it,
        at the oldest delivery.
      </p>
      <div className="mt-3 flex min-w-0 rounded-control border border-line bg-surface">
        <Command label="Read the feed" text={readCommand(stream, destination)} />
      </div>
      <a
        href="/docs/feed.md"
        target="_blank"
        rel="noreferrer"
        className={`${buttonClass('plain')} mt-3`}
      >
        Open the documentation
      </a>
    </div>
  );
}
