import type { FeedConsumer, StreamSummary } from '@sluice/kit/sluice';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { queryKeys, sluice } from '../../../data/queries/service.ts';
import { Dialog } from '../../../ui/dialog.tsx';
import { formatCount } from '../../../ui/text/format.ts';
import { showToast } from '../../../ui/toasts.ts';
import { CallForm } from '../../../words/callForm.tsx';

/** Deletes a consumer after a confirmation, because its position is lost. */
export function DeleteConsumer({
  stream,
  destination,
  consumer: { name, position },
  onClose,
}: {
  stream: StreamSummary;
  /** Number of the destination that is the feed. */
  destination: number;
  consumer: FeedConsumer;
  onClose: () => void;
}) {
  const queryClient = useQueryClient();
  const remove = useMutation({
    mutationFn: () => sluice.deleteFeedConsumer(stream.id, name, { destination }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: queryKeys.consumers(stream.id) });
      onClose();
      showToast({ text: 'Consumer deleted' });
    },
  });
  return (
    <Dialog title={`Delete ${name}`} onClose={onClose}>
      <CallForm
        call={remove}
        ready
        destructive
        action="Delete consumer"
        failed="Couldn't delete the consumer"
      >
        <p>
          This deletes the consumer and its position, {formatCount(position)}. If a program still
          reads as {name}, its next read starts again at the oldest delivery.
        </p>
      </CallForm>
    </Dialog>
  );
}
