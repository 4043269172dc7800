import type { StreamSummary } from '@sluice/kit/sluice';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { chainsQuery } from '../../data/queries/chains.ts';
import { streamStatusMutation } from '../../data/queries/streams.ts';
import { nameOfStream } from '../../words/names.ts';
import { showToast } from '../../ui/toasts.ts';

/** Pauses or resumes a stream, and shows a toast that can undo the change. */
export function useStatusToggle(stream: StreamSummary) {
  const queryClient = useQueryClient();
  const setStatus = useMutation({
    ...streamStatusMutation(queryClient, stream),
    onSuccess: (_response, status) => {
      const chains = queryClient.getQueryData(chainsQuery.queryKey) ?? [];
      const checkpoints = new Map(chains.map(({ id, checkpoint }) => [id, checkpoint ?? 0]));
      showToast({
        text:
          status === 'paused'
            ? `Paused ${nameOfStream(stream)}`
            : `Resumed ${nameOfStream(stream)}`,
        undo: async () => {
          const { undoStatus } = await import('./undoStatus.ts');
          return undoStatus(queryClient, stream, status, checkpoints);
        },
      });
    },
  });
  const isPaused = stream.status === 'paused';
  return { setStatus, toggle: () => setStatus.mutate(isPaused ? 'active' : 'paused') };
}
