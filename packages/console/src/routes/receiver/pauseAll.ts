import type { StreamSummary } from '@sluice/kit/sluice';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { chainsQuery } from '../../data/queries/chains.ts';
import { streamStatusMutation } from '../../data/queries/streams.ts';
import { formatCount, formatQuantity } from '../../ui/text/format.ts';
import { showToast } from '../../ui/toasts.ts';
import { nameOfStream } from '../../words/names.ts';
import { undoStatus } from '../stream/undoStatus.ts';

interface Change {
  /** The streams whose status changes. */
  streams: readonly StreamSummary[];
  status: 'active' | 'paused';
}

/**
 * Pauses or resumes several streams, and shows one toast that can undo the change. A stream that
 * cannot be resumed, because its receiver rejects the test webhook, does not keep the others from it.
 */
export function usePauseAll() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async ({ streams, status }: Change) => {
      const chains = queryClient.getQueryData(chainsQuery.queryKey) ?? [];
      const checkpoints = new Map(chains.map(({ id, checkpoint }) => [id, checkpoint ?? 0]));
      const { changed, error } = await changeEach(streams, (stream) =>
        queryClient
          .getMutationCache()
          .build(queryClient, streamStatusMutation(queryClient, stream))
          .execute(status),
      );
      if (changed.length > 0) {
        showToast({
          text: describe(status, changed.length, streams.length),
          undo: async () => {
            const undone = await changeEach(changed, (stream) =>
              undoStatus(queryClient, stream, status, checkpoints),
            );
            if (undone.error !== undefined) throw undone.error;
            const back = status === 'paused' ? 'active' : 'paused';
            return describe(back, undone.changed.length, changed.length);
          },
        });
      }
      if (error !== undefined) throw error;
    },
  });
}

/** Changes each stream. Returns those that changed, and an error that names the others. */
async function changeEach(
  streams: readonly StreamSummary[],
  change: (stream: StreamSummary) => Promise<unknown>,
): Promise<{ changed: StreamSummary[]; error: Error | undefined }> {
  const changed: StreamSummary[] = [];
  const problems: string[] = [];
  for (const stream of streams) {
    try {
      await change(stream);
      changed.push(stream);
    } catch (error) {
      problems.push(
        `${nameOfStream(stream)}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
  return { changed, error: problems.length === 0 ? undefined : new Error(problems.join(' · ')) };
}

function describe(status: Change['status'], changed: number, all: number): string {
  const many = formatQuantity(all, 'stream');
  return `${status === 'paused' ? 'Paused' : 'Resumed'} ${changed === all ? many : `${formatCount(changed)} of ${many}`}`;
}
