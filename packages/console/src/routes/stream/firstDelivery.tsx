import type { StreamSummary } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { chainsQuery, testWebhookMutation } from '../../api.ts';
import { nextBlock } from '../../blockPace.ts';
import { useNow } from '../../clock.ts';
import { CHAIN_CONDITIONS } from '../../condition.ts';
import { formatCount } from '../../format.ts';
import type { WatchedChain } from '../../tape.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { ErrorPanel } from '../../ui/errorPanel.tsx';
import { Status } from '../../ui/status.tsx';

const SHOWN_BLOCKS = 3;

/** In place of deliveries while the stream has none: what it waits for, and what shows that it works. */
export function FirstDelivery({ stream }: { stream: StreamSummary }) {
  const { data: chains } = useQuery(chainsQuery);
  const queryClient = useQueryClient();
  const test = useMutation(testWebhookMutation(queryClient, stream));
  const followed = stream.chainIds.flatMap((id) => chains?.find((chain) => chain.id === id) ?? []);
  return (
    <div className="px-4 py-6">
      <p className="font-medium">No deliveries yet</p>
      {stream.status === 'active' ? (
        <ul className="mt-2 grid gap-3">
          {followed.map((chain) => (
            <li key={chain.id}>
              <Waiting chain={chain} since={stream.createdAt} />
            </li>
          ))}
        </ul>
      ) : (
        <p className="mt-1 text-muted">
          The stream is {stream.status === 'paused' ? 'paused' : 'not active'}: blocks pass without
          being held against it.
        </p>
      )}
      <div className="mt-4 flex flex-wrap gap-2">
        <Button disabled={test.isPending} onClick={() => test.mutate()}>
          Send a sample
        </Button>
        <Link
          from="/streams/$streamId"
          to="/streams/$streamId"
          search={{ tab: 'rules' }}
          className={buttonClass('plain')}
        >
          Dry run of the last blocks
        </Link>
      </div>
      {test.isSuccess && (
        <p className="mt-2 text-muted">
          <output>The sample was answered with 2xx.</output>
        </p>
      )}
      {test.isError && (
        <ErrorPanel
          what="The sample did not arrive"
          error={test.error}
          onRetry={() => test.mutate()}
        />
      )}
    </div>
  );
}

/** Which block comes next, and those before it that the stream was held against in vain. */
function Waiting({
  chain,
  since,
}: {
  chain: WatchedChain;
  /** When the stream was made: earlier blocks were not looked at. */
  since: number;
}) {
  const now = useNow();
  const next = nextBlock(chain.blocks, now);
  const looked = chain.blocks.filter(({ timestamp }) => timestamp >= since).slice(0, SHOWN_BLOCKS);
  return (
    <>
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="text-muted">{chain.name}</span>
        {chain.state !== 'live' || next === null ? (
          <Status condition={CHAIN_CONDITIONS[chain.state]} />
        ) : (
          <span>
            Waiting for block <span className="data">{formatCount(next.number)}</span>
            {next.inMs !== null && (
              <span className="data text-muted">
                {' · '}
                {next.inMs > 0 ? `~${Math.ceil(next.inMs / 1000)} s` : 'due'}
              </span>
            )}
          </span>
        )}
      </p>
      {looked.length > 0 && (
        <p className="data mt-0.5 text-faint">
          {looked.map(({ number }) => formatCount(number)).join(', ')}: 0 webhooks
        </p>
      )}
    </>
  );
}
