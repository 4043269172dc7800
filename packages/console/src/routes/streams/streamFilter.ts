/** Filters, searches and sorts the streams of the overview. */
import type { FleetStream } from '../../data/fleet.ts';
import type { StreamsSearch } from '../../data/search.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { hasProblem, sortStreams } from './streamOrder.ts';

export const STREAM_FILTERS: {
  show: StreamsSearch['show'];
  label: string;
  passes: (row: FleetStream) => boolean;
}[] = [
  { show: undefined, label: 'All', passes: () => true },
  { show: 'failing', label: 'Failing', passes: hasProblem },
  { show: 'paused', label: 'Paused', passes: ({ stream }) => stream.status === 'paused' },
];

/**
 * Returns whether all words occur in the tag, description, URL, id or chains of a stream. Words
 * such as `chain:base` and `tag:deposits` are searched only in the field that they name.
 */
const mentions = (
  { stream }: FleetStream,
  chains: readonly WatchedChain[],
  words: string[],
): boolean => {
  const chain = chains.flatMap(({ id, code, name }) => [id, code, name]).join(' ');
  const places: Record<string, string> = { chain, tag: stream.tag };
  const all = [stream.tag, stream.description, stream.webhookUrl, stream.id, chain].join(' ');
  return words.every((word) => {
    const [, place = '', wanted = word] = /^(chain|tag):(.*)$/.exec(word) ?? [];
    return (places[place] ?? all).toLowerCase().includes(wanted.replaceAll('*', ''));
  });
};

export function findStreams(
  fleet: readonly FleetStream[],
  chains: ReadonlyMap<string, WatchedChain>,
  { q = '', show, sort }: StreamsSearch,
): readonly FleetStream[] {
  const words = q.toLowerCase().split(/\s+/);
  const passing = fleet
    .filter(STREAM_FILTERS.find((each) => each.show === show)?.passes ?? (() => true))
    .filter((row) =>
      mentions(
        row,
        row.stream.chainIds.flatMap((id) => chains.get(id) ?? []),
        words,
      ),
    );
  return sortStreams(passing, sort);
}
