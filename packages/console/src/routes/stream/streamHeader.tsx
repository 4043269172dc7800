import { FEED_URL } from '@sluice/kit/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { ChevronDown, Pause, Play, Zap } from 'lucide-react';
import { useState } from 'react';
import { chainsQuery } from '../../data/queries/chains.ts';
import { testWebhookMutation } from '../../data/queries/streams.ts';
import { useNow } from '../../ui/text/clock.ts';
import { pausedWords, streamReason, streamScope } from '../../words/condition.ts';
import {
  isFailing,
  useChainReason,
  useLatestDelivery,
  useRetries,
  type FleetStream,
} from '../../data/fleet.ts';
import { useShortcuts } from '../../ui/keys/keyboard.ts';
import { nameOfStream } from '../../words/names.ts';
import { ReceiverLink } from '../../words/receiverLink.tsx';
import { focusedRow, useActions } from '../../ui/keys/actionList.tsx';
import { Button, Keycap } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { copyActions, useCopyKeys, type CopyableParts } from '../../words/copyKeys.ts';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Status } from '../../ui/status.tsx';
import { Breadcrumb } from '../../ui/breadcrumb.tsx';
import { FeedLag } from './consumers/feedLag.tsx';
import { DestinationStates } from './destinationStates.tsx';
import { useStatusToggle } from './statusToggle.ts';

/** Shows the name, scope and state of the stream, and buttons to test, pause and resume it. */
export function StreamHeader({
  row,
  onExpand,
}: {
  row: FleetStream;
  /** Shows the complete header; null if it is shown. Otherwise, it has a single line. */
  onExpand: (() => void) | null;
}) {
  const { stream, condition } = row;
  const isComplete = onExpand === null;
  const queryClient = useQueryClient();
  const now = useNow();
  const { data: chains } = useQuery(chainsQuery);
  const latest = useLatestDelivery(row);
  const { setStatus, toggle } = useStatusToggle(stream);
  const test = useMutation(testWebhookMutation(queryClient, stream));
  const name = nameOfStream(stream);
  const scope = streamScope(stream);
  const pause = pausedWords(stream, now);
  const paused = stream.status === 'paused';
  const mayChange = stream.status !== 'terminated';
  const hasReceiver = stream.webhookUrl !== FEED_URL;
  const retries = useRetries(isFailing(row) ? latest : undefined);
  const reason = [useChainReason(row, now), streamReason(stream, latest, now, retries)]
    .filter((part) => part !== null)
    .join(' · ');

  const sendTest = (): void => {
    if (!test.isPending) test.mutate();
  };
  const [isAsking, setConfirming] = useState(false);
  useShortcuts({
    p: () => {
      if (mayChange) toggle();
    },
    t: () => setConfirming(hasReceiver),
  });
  const selected = useSearch({ from: '/frame/streams/$streamId', select: ({ sel }) => sel });
  // While a delivery is open or focused, the copy keys and the action list apply to it instead of
  // the stream.
  const isOfDelivery = (): boolean => selected !== undefined || focusedRow() !== undefined;
  const copies: CopyableParts = { id: stream.id, link: location.href };
  useCopyKeys(() => (isOfDelivery() ? null : copies));
  const actions = useActions(() =>
    isOfDelivery()
      ? null
      : {
          of: name,
          actions: [
            hasReceiver && { label: 'Send test', keycap: 't', run: sendTest },
            mayChange && { label: paused ? 'Resume' : 'Pause', keycap: 'p', run: toggle },
            ...copyActions(copies),
          ],
        },
  );

  return (
    <header>
      {actions}
      {isAsking && (
        <Confirm
          title="Send test webhook"
          action="Send test"
          onConfirm={sendTest}
          onClose={() => setConfirming(false)}
        >
          Sluice sends a test webhook to {stream.webhookUrl}.
        </Confirm>
      )}
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2">
        <span className="flex max-w-full min-w-0 items-center gap-2">
          <Breadcrumb to="/" title="Streams" />
          <h2 className="truncate text-16 font-semibold">{name}</h2>
        </span>
        <Status condition={condition} />
        {isComplete && (
          <>
            <span className={scope.unscoped ? 'text-12 text-warn' : 'text-12 text-muted'}>
              {scope.text}
            </span>
            {stream.destinations.length === 0 && (
              <FeedLag streamId={stream.id} destination={{ ...stream, destination: 0 }} />
            )}
            {pause !== null && <span className="text-12 text-muted">{pause}</span>}
            <span className="data text-muted">
              {stream.chainIds
                .map((id) => chains?.find((chain) => chain.id === id)?.code ?? id)
                .join(' ')}
            </span>
            {hasReceiver && stream.destinations.length === 0 && (
              <ReceiverLink
                webhookUrl={stream.webhookUrl}
                className="data inline-flex min-h-6 min-w-0 items-center text-muted hover:underline max-sm:hidden"
              />
            )}
          </>
        )}
        <span className="ml-auto flex gap-2">
          {!isComplete && (
            <Button variant="quiet" square aria-label="Show the complete header" onClick={onExpand}>
              <ChevronDown size={16} strokeWidth={1.5} aria-hidden="true" />
            </Button>
          )}
          {hasReceiver && (
            <Button onClick={sendTest} disabled={test.isPending}>
              <Zap size={14} strokeWidth={1.5} aria-hidden="true" />
              <span className={isComplete ? '' : 'max-sm:sr-only'}>Send test</span>
              <Keycap>t</Keycap>
            </Button>
          )}
          {mayChange && (
            <Button onClick={toggle}>
              {paused ? (
                <Play size={14} strokeWidth={1.5} aria-hidden="true" />
              ) : (
                <Pause size={14} strokeWidth={1.5} aria-hidden="true" />
              )}
              <span className={isComplete ? '' : 'max-sm:sr-only'}>
                {paused ? 'Resume' : 'Pause'}
              </span>
              <Keycap>p</Keycap>
            </Button>
          )}
        </span>
      </div>
      {isComplete && <DestinationStates row={row} />}
      {isComplete && reason !== '' && (
        <p
          className={`px-4 pb-2 break-words ${condition.tone === 'bad' ? 'text-text' : 'text-muted'}`}
        >
          {reason}
        </p>
      )}
      {test.isSuccess && (
        <p className="px-4 pb-2 text-muted">
          <output>The receiver responded to the test webhook with 2xx.</output>
        </p>
      )}
      {test.isError && (
        <ErrorPanel what="The test webhook failed" error={test.error} onRetry={sendTest} />
      )}
      {setStatus.isError && (
        <ErrorPanel
          what={
            setStatus.variables === 'paused'
              ? "Couldn't pause the stream"
              : "Couldn't resume the stream"
          }
          error={setStatus.error}
          onRetry={toggle}
        />
      )}
    </header>
  );
}
