/** Describes the consumers of a feed. */
import type { FeedConsumer, StreamSummary } from '@sluice/kit/sluice';
import { quoteShell } from '@sluice/kit/contract';
import { formatAgo, formatCount } from '../../../ui/text/format.ts';

/** Returns the command that reads a feed of a stream as a new consumer. */
export const readCommand = (
  { tag, id }: Pick<StreamSummary, 'tag' | 'id'>,
  destination: number,
): string =>
  [
    `sluice feed ${quoteShell(tag || id)} --consumer billing`,
    destination > 0 && `--destination ${destination}`,
  ]
    .filter((part) => part !== false)
    .join(' ');

/** Returns text such as `3 unread by billing`; null if no consumer has unread deliveries. */
export function lagWords(
  consumers: readonly Pick<FeedConsumer, 'name' | 'unread'>[],
): string | null {
  const [slowest] = consumers.toSorted((a, b) => b.unread - a.unread);
  return slowest === undefined || slowest.unread === 0
    ? null
    : `${formatCount(slowest.unread)} unread by ${slowest.name}`;
}

/** Describes a consumer in one line, for screens without room for all columns. */
export const progressWords = (
  { position, leased, oldestAt, activeAt }: FeedConsumer,
  now: number,
): string =>
  [
    `position ${formatCount(position)}`,
    leased > 0 && `${formatCount(leased)} leased`,
    oldestAt !== null && `oldest ${formatAgo(oldestAt, now)}`,
    `active ${formatAgo(activeAt, now)}`,
  ]
    .filter((part) => part !== false)
    .join(' · ');
