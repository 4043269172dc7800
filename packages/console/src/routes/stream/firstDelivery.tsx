import { FEED_URL } from '@sluice/kit/contract';
import type { StreamSummary } from '@sluice/kit/sluice';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { testWebhookMutation } from '../../data/queries/streams.ts';
import { idleReasonOf } from '../../words/condition.ts';
import { formatCount } from '../../ui/text/format.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { ChainWaits, NothingWatched, useFollowed } from './nextDelivery.tsx';

const SHOWN_BLOCKS = 3;

/** Explains what the stream waits for until its first delivery, and offers ways to test it. */
export function FirstDelivery({ stream }: { stream: StreamSummary }) {
  const test = useMutation(testWebhookMutation(useQueryClient(), stream));
  const followed = useFollowed(stream);
  const standstill = idleReasonOf(stream);
  return (
    <div className="px-4 py-6">
      <p className="font-medium">No deliveries yet</p>
      <div className="mt-2">
        {standstill === null ? (
          <ul className="grid gap-3">
            {followed.map((chain) => (
              <li key={chain.id}>
                <Waiting chain={chain} since={stream.createdAt} />
              </li>
            ))}
          </ul>
        ) : (
          <NothingWatched stream={stream} standstill={standstill} />
        )}
      </div>
      <div className="mt-4 flex flex-wrap gap-2">
        {stream.webhookUrl !== FEED_URL && (
          <Button disabled={test.isPending} onClick={() => test.mutate()}>
            Send test webhook
          </Button>
        )}
        <Link
          from="/streams/$streamId"
          to="/streams/$streamId"
          search={{ tab: 'rules' }}
          className={buttonClass('plain')}
        >
          Dry-run recent blocks
        </Link>
      </div>
      {test.isSuccess && (
        <p className="mt-2 text-muted">
          <output>The receiver responded to the test webhook with 2xx.</output>
        </p>
      )}
      {test.isError && (
        <ErrorPanel
          what="The test webhook failed"
          error={test.error}
          onRetry={() => test.mutate()}
        />
      )}
    </div>
  );
}

/** Shows the block that a chain waits for, and the latest blocks, which produced no webhooks. */
function Waiting({
  chain,
  since,
}: {
  chain: WatchedChain;
  /** Creation time of the stream in Unix milliseconds. Earlier blocks were not matched. */
  since: number;
}) {
  const matched = chain.blocks.filter(({ timestamp }) => timestamp >= since).slice(0, SHOWN_BLOCKS);
  return (
    <>
      <ChainWaits chain={chain} />
      {matched.length > 0 && (
        <p className="data mt-0.5 text-faint">
          {matched.map(({ number }) => formatCount(number)).join(', ')}: 0 webhooks
        </p>
      )}
    </>
  );
}
