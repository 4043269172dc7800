import type { DeliveryDetail, StreamSummary } from '@sluice/kit/sluice';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { sendMutation } from '../../../data/queries/delivery.ts';
import { queryKeys } from '../../../data/queries/service.ts';
import { updateStream } from '../../../data/queries/streams.ts';
import { Dialog } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/form/field.tsx';
import { showToast } from '../../../ui/toasts.ts';
import { CallForm } from '../../../words/callForm.tsx';

/** Changes the webhook URL of a stream, and sends one of its deliveries there. */
export function ChangeUrl({
  stream,
  savedUrl,
  delivery,
  onClose,
}: {
  stream: Pick<StreamSummary, 'id' | 'family'>;
  savedUrl: string;
  delivery: DeliveryDetail;
  onClose: () => void;
}) {
  const queryClient = useQueryClient();
  const [url, setUrl] = useState(savedUrl);
  const change = useMutation({
    mutationFn: async (): Promise<void> => {
      await updateStream(stream, { webhookUrl: url.trim() });
      const { mutationFn: send } = sendMutation(queryClient);
      await send(delivery);
    },
    onSuccess: async () => {
      onClose();
      showToast({ text: 'URL changed, sent again' });
      await Promise.all(
        [queryKeys.stream(stream.id), queryKeys.streams, queryKeys.delivery(delivery.id)].map(
          (queryKey) => queryClient.invalidateQueries({ queryKey }),
        ),
      );
    },
  });
  return (
    <Dialog title="Change the webhook URL" onClose={onClose}>
      <CallForm
        call={change}
        ready={url.trim() !== ''}
        action="Save and send again"
        failed="Couldn't change the URL or send again"
      >
        <TextField
          label="Webhook URL"
          mono
          help="Later webhooks of the stream are also sent to this URL."
          value={url}
          onChange={(event) => setUrl(event.target.value)}
          onFocus={(event) => event.target.select()}
        />
      </CallForm>
    </Dialog>
  );
}
