import type { DeliverySummary } from '@sluice/kit/sluice';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import type { SentBody } from '../../body/bodyWorker.ts';
import { sendMutation, stopMutation } from '../../data/queries/delivery.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { useActions } from '../../ui/keys/actionList.tsx';
import { useShortcuts } from '../../ui/keys/keyboard.ts';
import { copyText } from '../../ui/text/copyText.ts';
import { formatId } from '../../ui/text/format.ts';
import { copyActions, useCopyKeys, type CopyableParts } from '../../words/copyKeys.ts';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import type { RetryActions } from './attempts/retry.ts';
import { toDeliveryCurl } from './body/curl.ts';
import { sendVerb } from '../../words/condition.ts';

const CopyDialog = lazy(async () => ({
  default: (await import('./copy/copyDialog.tsx')).CopyDialog,
}));

/** States in which a delivery can be sent now. */
const SENDABLE: readonly DeliverySummary['state'][] = [
  'held',
  'pending',
  'retrying',
  'succeeded',
  'failed',
  'quarantined',
];

/** Provides the actions of a delivery as keys and buttons, and lists them when `.` is pressed. */
export function useDeliveryActions({
  id,
  delivery,
  webhookUrl,
  body,
}: {
  id: string;
  delivery: DeliverySummary | undefined;
  webhookUrl: string | undefined;
  body: SentBody | undefined;
}): {
  /** Label of the button that sends the delivery. */
  again: string;
  /** Sends the delivery; null if the delivery cannot be sent now. */
  onSend: (() => void) | null;
  /** Opens the dialog that sends an edited copy. */
  onEdit: () => void;
  retry: RetryActions;
  dialogs: React.ReactNode;
  /** Error messages of the actions. */
  problems: React.ReactNode;
} {
  const queryClient = useQueryClient();
  const sending = useMutation(sendMutation(queryClient));
  const stop = useMutation(stopMutation(queryClient, id));
  const maySend = delivery !== undefined && SENDABLE.includes(delivery.state);
  const again = sendVerb(delivery?.state);
  const send = (): void => {
    if (maySend && !sending.isPending) sending.mutate(delivery);
  };
  const copies: CopyableParts = {
    id,
    link: location.href,
    copyCurl:
      webhookUrl === undefined || body === undefined
        ? undefined
        : () => void copyText(toDeliveryCurl(id, body, webhookUrl), 'curl command'),
  };
  useCopyKeys(() => copies);
  const [isAsking, setConfirming] = useState(false);
  const [isEditing, setEditing] = useState(false);
  const edit = (): void => setEditing(true);
  useShortcuts({
    r: () => {
      if (maySend && !sending.isPending) setConfirming(true);
    },
  });
  const list = useActions(() => ({
    of: `Delivery ${formatId(id)}`,
    actions: [
      maySend && { label: again, keycap: 'r', run: send },
      { label: 'Edit and resend…', run: edit },
      delivery?.state === 'held' && { label: 'Stop', run: () => stop.mutate() },
      delivery?.state === 'retrying' && { label: 'Stop retrying', run: () => stop.mutate() },
      ...copyActions(copies),
    ],
  }));
  return {
    again,
    onSend: maySend && !sending.isPending ? send : null,
    onEdit: edit,
    retry: { now: send, stop: () => stop.mutate(), isBusy: stop.isPending || sending.isPending },
    dialogs: (
      <>
        {list}
        {isEditing && (
          <Suspense>
            <CopyDialog id={id} onClose={() => setEditing(false)} />
          </Suspense>
        )}
        {isAsking && (
          <Confirm
            title={`Delivery ${formatId(id)}`}
            action={again}
            onConfirm={send}
            onClose={() => setConfirming(false)}
          >
            {describeSending(delivery)}
          </Confirm>
        )}
      </>
    ),
    problems: (
      <>
        {sending.isError && (
          <ErrorPanel what="Couldn't send the delivery" error={sending.error} onRetry={send} />
        )}
        {stop.isError && (
          <ErrorPanel
            what="Couldn't stop the delivery"
            error={stop.error}
            onRetry={() => stop.mutate()}
          />
        )}
      </>
    ),
  };
}

function describeSending(delivery: DeliverySummary | undefined): string {
  if (delivery?.state === 'succeeded') {
    return 'The webhook was already delivered. The receiver gets it again with the same webhook-id.';
  }
  return delivery?.state === 'held'
    ? 'No other node has confirmed the block. All webhooks of this stream in the block are sent.'
    : 'The webhook is sent to the receiver now.';
}
