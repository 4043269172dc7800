import { FEED_URL } from '@sluice/kit/contract';
import type { FeedConsumer, StreamSummary } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { consumersQuery } from '../../../data/queries/streams.ts';
import { buttonClass } from '../../../ui/button.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { Command } from '../../../ui/text/command.tsx';
import { ErrorPanel } from '../../../words/errorPanel.tsx';
import { ConsumerTable } from './consumerTable.tsx';
import { readCommand } from './consumerWords.ts';
import { DeleteConsumer } from './deleteConsumer.tsx';
import { ResetConsumer } from './resetConsumer.tsx';

/** Lists the consumers of a stream's feed with their progress; resets and deletes them. */
export function ConsumersTab({ stream }: { stream: StreamSummary }) {
  const consumers = useQuery(consumersQuery(stream.id));
  const [resetting, setResetting] = useState<string | null>(null);
  const [deleting, setDeleting] = useState<string | null>(null);
  const find = (name: string | null): FeedConsumer | undefined =>
    consumers.data?.find((each) => each.name === name);
  const [toReset, toDelete] = [find(resetting), find(deleting)];
  return (
    <section aria-label="Consumers" className="min-w-0">
      {consumers.isError && (
        <ErrorPanel
          what="Couldn't load consumers"
          error={consumers.error}
          onRetry={() => void consumers.refetch()}
          stale={consumers.data !== undefined}
        />
      )}
      {consumers.isPending && <Loading className="p-4" />}
      {consumers.data?.length === 0 && <NoConsumers stream={stream} />}
      {consumers.data !== undefined && consumers.data.length > 0 && (
        <ConsumerTable consumers={consumers.data} onReset={setResetting} onDelete={setDeleting} />
      )}
      {toReset !== undefined && (
        <ResetConsumer stream={stream} consumer={toReset} onClose={() => setResetting(null)} />
      )}
      {toDelete !== undefined && (
        <DeleteConsumer stream={stream} consumer={toDelete} onClose={() => setDeleting(null)} />
      )}
    </section>
  );
}

function NoConsumers({ stream }: { stream: StreamSummary }) {
  if (stream.webhookUrl !== FEED_URL) {
    return (
      <div className="px-4 py-6">
        <p className="font-medium">Not a feed</p>
        <p className="mt-1 text-muted">
          The stream sends its webhooks. Only streams with the webhook URL {FEED_URL} have
          consumers.
        </p>
        <Link
          from="/streams/$streamId"
          to="/streams/$streamId"
          search={{ tab: 'settings' }}
          className={`${buttonClass('plain')} mt-3`}
        >
          Edit webhook URL
        </Link>
      </div>
    );
  }
  return (
    <div className="max-w-180 px-4 py-6">
      <p className="font-medium">No consumers yet</p>
      <p className="mt-1 text-muted">
        The programs that read this feed are listed here. The first read of a consumer creates it,
        at the oldest delivery.
      </p>
      <div className="mt-3 flex min-w-0 rounded-control border border-line bg-surface">
        <Command label="Read the feed" text={readCommand(stream)} />
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
