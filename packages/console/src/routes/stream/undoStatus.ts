import type { StreamSummary } from '@sluice/kit/sluice';
import type { QueryClient } from '@tanstack/react-query';
import { sluice } from '../../data/queries/service.ts';
import { startBackfill, streamStatusMutation } from '../../data/queries/streams.ts';
import { formatQuantity } from '../../ui/text/format.ts';
import { nameOfStream } from '../../words/names.ts';

/**
 * Undoes a pause or a resume. Blocks that were missed during an undone pause are backfilled.
 * @param checkpoints checkpoint of each chain, by chain id, at the time of the pause or resume.
 * @returns the text of a toast that reports the result.
 */
export async function undoStatus(
  queryClient: QueryClient,
  stream: StreamSummary,
  done: 'active' | 'paused',
  checkpoints: ReadonlyMap<string, number>,
): Promise<string> {
  const name = nameOfStream(stream);
  // Runs the mutation without a hook, because the toast outlives the page that showed it.
  await queryClient
    .getMutationCache()
    .build(queryClient, streamStatusMutation(queryClient, stream))
    .execute(done === 'paused' ? 'active' : 'paused');
  if (done === 'active') return `Paused ${name} again`;
  const coverage = await sluice.getCoverage(stream.id);
  const missed = coverage.flatMap(({ chainId, holes }) => {
    const last = holes.findLast(({ reason }) => reason === 'paused');
    return last !== undefined && last.to > (checkpoints.get(chainId) ?? Infinity)
      ? [{ chainId, from: last.from, to: last.to }]
      : [];
  });
  for (const { chainId, from, to } of missed) {
    await startBackfill(stream, chainId, { blockFrom: from, blockTo: to });
  }
  const blocks = missed.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  return blocks === 0
    ? `Resumed ${name}`
    : `Resumed ${name}, matching ${formatQuantity(blocks, 'missed block')}`;
}
