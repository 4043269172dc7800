/** Streams with their conditions, for the overview and the title of the tab. */
import type { DeliverySummary, StreamSummary } from '@sluice/kit/sluice';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { chainsQuery } from './queries/chains.ts';
import { deliveriesQuery, lastTriedQuery } from './queries/deliveries.ts';
import { deliveryQuery } from './queries/delivery.ts';
import { streamsQuery } from './queries/streams.ts';
import {
  CHAIN_DOWN,
  chainProblem,
  isChainDown,
  newestTried,
  streamCondition,
} from '../words/condition.ts';
import type { Condition } from '../ui/status.tsx';
import { rowsOf, type DeliveryPages } from './live/liveCache.ts';

/**
 * Number of deliveries: enough for the timelines of many streams, but few enough to scan four times
 * per second.
 */
const RECENT_ROWS = 2_000;

const NONE: readonly DeliverySummary[] = [];

export interface RecentDeliveries {
  /** Deliveries, newest first. */
  rows: readonly DeliverySummary[];
  /** Deliveries created before this time may be missing. */
  since: number;
}

/** Returns the newest deliveries of all streams, from the query of the Deliveries page. */
export function useRecentDeliveries(): RecentDeliveries {
  const { data } = useInfiniteQuery(deliveriesQuery({}));
  return useMemo(() => recentOf(data), [data]);
}

/** Returns the newest deliveries of a list that may not have loaded yet. */
export function recentOf(data: DeliveryPages | undefined): RecentDeliveries {
  if (data === undefined) return { rows: NONE, since: Infinity };
  const all = rowsOf(data);
  const rows = all.slice(0, RECENT_ROWS);
  const complete = data.pages.at(-1)?.cursor === undefined && rows.length === all.length;
  return { rows, since: complete ? 0 : (rows.at(-1)?.createdAt ?? Infinity) };
}

export interface FleetStream {
  stream: StreamSummary;
  condition: Condition;
  /** Whether its deliveries fail. Does not depend on its chains. */
  isFailing: boolean;
  /** Ids of its chains that are down; empty for paused and terminated streams. */
  down: readonly string[];
  /** Newest delivery with an attempt. */
  latest: DeliverySummary | undefined;
}

/**
 * Undefined until the newest deliveries, which contain the reason for a failure, have loaded or
 * failed to load.
 */
export function useFleet(): FleetStream[] | undefined {
  const { data: streams } = useQuery(streamsQuery);
  const { data, isPending } = useInfiniteQuery(deliveriesQuery({}));
  const { data: chains } = useQuery(chainsQuery);
  // Chains change with every block, but rarely go down.
  const downIds = (chains ?? [])
    .filter(isChainDown)
    .map(({ id }) => id)
    .join(' ');
  return useMemo(() => {
    if (isPending) return undefined;
    const newest = newestTried(recentOf(data).rows);
    const allDown = downIds.split(' ');
    return streams?.map((stream) => {
      const latest = newest.get(stream.id);
      const own = streamCondition(stream, latest);
      const isWatching = stream.status === 'active' || stream.status === 'error';
      const down = isWatching ? stream.chainIds.filter((id) => allDown.includes(id)) : [];
      return {
        stream,
        latest,
        down,
        isFailing: own.tone === 'bad',
        condition: down.length > 0 ? CHAIN_DOWN : own,
      };
    });
  }, [streams, data, isPending, downIds]);
}

/** Returns the newest attempted delivery; requests it for a failing stream if it is not cached. */
export function useLatest(row: FleetStream | undefined): DeliverySummary | undefined {
  const { data } = useQuery({
    ...lastTriedQuery(row?.stream.id ?? ''),
    enabled: row !== undefined && isFailing(row) && row.latest === undefined,
  });
  return row?.latest ?? data ?? undefined;
}

/**
 * Returns the total number of retries of a failed delivery, including past ones; undefined while
 * unknown.
 */
export function useRetries(latest: DeliverySummary | undefined): number | undefined {
  const waits = latest !== undefined && latest.error !== null && latest.nextAttemptAt !== null;
  const { data } = useQuery({
    ...deliveryQuery(latest?.id ?? ''),
    enabled: waits,
    // Depends only on the schedule, because the latest delivery changes every few seconds.
    placeholderData: keepPreviousData,
  });
  return waits && data !== undefined ? data.attempts + data.remainingWaitsMs.length : undefined;
}

export const isFailing = (row: FleetStream): boolean => row.isFailing;

/** Describes which chains of a stream are down, and why. */
export function useChainReason({ down }: Pick<FleetStream, 'down'>, now: number): string | null {
  const { data: chains } = useQuery(chainsQuery);
  const words = (chains ?? [])
    .filter(({ id }) => down.includes(id))
    .map((chain) => [`${chain.name} is down`, chainProblem(chain, now)].filter(Boolean).join(': '));
  return words.length === 0 ? null : words.join(' · ');
}
