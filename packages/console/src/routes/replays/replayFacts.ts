/** Describes a replay in words, for the list of replays and the page of a replay. */
import type { Replay } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { chainsQuery } from '../../data/queries/chains.ts';
import { replaysQuery } from '../../data/queries/replays.ts';
import { streamsQuery } from '../../data/queries/streams.ts';
import { describeFilter, type DisplayNames } from '../../words/filterWords.ts';
import { formatCount, formatDuration, formatSpan } from '../../ui/text/format.ts';
import { progressOf } from '../../data/replayStatus.ts';
import { isolateName, nameOfStreamId } from '../../words/names.ts';

/** Returns functions that name the streams, chains and replays in a filter. */
export function useNames(): DisplayNames {
  const { data: streams } = useQuery(streamsQuery);
  const { data: chains } = useQuery(chainsQuery);
  const { data: replays } = useQuery(replaysQuery);
  return {
    ofStream: (id) => nameOfStreamId(id, streams),
    ofChain: (id) => chains?.find((chain) => chain.id === id)?.name ?? id,
    ofReplay: (id) => {
      const name = replays?.find((replay) => replay.id === id)?.name;
      return name === undefined ? 'an earlier replay' : `“${isolateName(name)}”`;
    },
  };
}

export const useFilterWords = (): ((filter: Replay['filter']) => string) => {
  const names = useNames();
  return (filter) => describeFilter(filter, names);
};

const MINUTE_MS = 60_000;

const formatLength = (ms: number): string => (ms < MINUTE_MS ? formatDuration(ms) : formatSpan(ms));

/**
 * Returns text such as `50/s, 12 s left` while the replay runs, and `48/s, in 24 s` once it has
 * ended.
 */
export function describePace(replay: Replay): string {
  const { perSecond, createdAt, updatedAt, replayed } = replay;
  const { secondsLeft } = progressOf(replay);
  if (secondsLeft !== null) {
    return `${formatCount(perSecond)}/s, ${formatLength(secondsLeft * 1000)} left`;
  }
  const tookMs = updatedAt - createdAt;
  const pace = tookMs < 1000 ? perSecond : Math.min(perSecond, replayed / (tookMs / 1000));
  return `${formatCount(Math.round(pace * 10) / 10)}/s, in ${formatLength(tookMs)}`;
}
