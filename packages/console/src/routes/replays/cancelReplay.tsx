import type { Replay } from '@sluice/kit/sluice';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { cancelReplayMutation } from '../../data/queries/replays.ts';
import { formatCount, formatQuantity } from '../../ui/text/format.ts';
import { standingOf } from '../../data/replayStanding.ts';
import { CallForm } from '../../words/callForm.tsx';
import { Dialog } from '../../ui/dialog.tsx';

/** Asked once more: it cannot be taken up again. */
export function CancelReplay({ replay, onClose }: { replay: Replay; onClose: () => void }) {
  const queryClient = useQueryClient();
  const mutation = cancelReplayMutation(queryClient, replay.id);
  const cancel = useMutation({
    ...mutation,
    onSuccess: (cancelled) => {
      mutation.onSuccess(cancelled);
      onClose();
    },
  });
  const { left } = standingOf(replay);
  return (
    <Dialog title={`Cancel ${replay.name}`} onClose={onClose}>
      <CallForm
        call={cancel}
        ready
        destructive
        action="Cancel replay"
        failed="The replay was not cancelled"
      >
        <p>
          {formatQuantity(left, 'delivery', 'deliveries')} that had no turn yet will not be sent
          again; the {formatCount(replay.replayed)} that had stay sent. To send the rest later, make
          another replay.
        </p>
      </CallForm>
    </Dialog>
  );
}
