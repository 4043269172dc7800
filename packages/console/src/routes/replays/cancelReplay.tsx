import type { Replay } from '@sluice/kit/sluice';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { cancelReplayMutation } from '../../data/queries/replays.ts';
import { formatCount, formatQuantity } from '../../ui/text/format.ts';
import { progressOf } from '../../data/replayStatus.ts';
import { CallForm } from '../../words/callForm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { showToast } from '../../ui/toasts.ts';

/** Cancels a replay after a confirmation, because a canceled replay cannot be resumed. */
export function CancelReplay({ replay, onClose }: { replay: Replay; onClose: () => void }) {
  const queryClient = useQueryClient();
  const mutation = cancelReplayMutation(queryClient, replay.id);
  const cancel = useMutation({
    ...mutation,
    onSuccess: (canceled) => {
      mutation.onSuccess(canceled);
      onClose();
      showToast({ text: 'Replay canceled' });
    },
  });
  const { left } = progressOf(replay);
  return (
    <Dialog title={`Cancel ${replay.name}`} onClose={onClose}>
      <CallForm
        call={cancel}
        ready
        destructive
        action="Cancel replay"
        cancel="Keep running"
        failed="Couldn't cancel the replay"
      >
        <p>
          Replayed so far: {formatCount(replay.replayed)}. Not replayed:{' '}
          {formatQuantity(left, 'delivery', 'deliveries')}. Deliveries that are already queued are
          still sent. You can't resume a canceled replay. To send the rest later, create a new one.
        </p>
      </CallForm>
    </Dialog>
  );
}
