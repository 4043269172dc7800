/**
 * Combines all streams with their conditions, for the overview, the stream pages and the tab's
 * title.
 */
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
 * Maximum number of deliveries to use: enough for the timelines of many streams, and few enough to
 * scan four times per second.
 */
const RECENT_ROWS = 2_000;

const NONE: readonly DeliverySummary[] = [];

export interface RecentDeliveries {
  /** Deliveries, newest first. */
  rows: readonly DeliverySummary[];
  /** Time in Unix milliseconds. Deliveries created earlier may be missing. */
  since: number;
}

/** Returns the newest deliveries of all streams; shares the query of the Deliveries page. */
export function useRecentDeliveries(): RecentDeliveries {
  const { data } = useInfiniteQuery(deliveriesQuery({}));
  return useMemo(() => toRecentDeliveries(data), [data]);
}

/** Returns the newest deliveries of a list, which may not have loaded yet. */
function toRecentDeliveries(data: DeliveryPages | undefined): RecentDeliveries {
  if (data === undefined) return { rows: NONE, since: Infinity };
  const all = rowsOf(data);
  const rows = all.slice(0, RECENT_ROWS);
  const complete = data.pages.at(-1)?.cursor === undefined && rows.length === all.length;
  return { rows, since: complete ? 0 : (rows.at(-1)?.createdAt ?? Infinity) };
}

export interface FleetStream {
  stream: StreamSummary;
  condition: Condition;
  /** Whether the stream fails to deliver, regardless of the state of its chains. */
  isFailing: boolean;
  /** Ids of the stream's chains that are down; empty for paused and terminated streams. */
  down: readonly string[];
  /**
   * The stream's most recently updated delivery with an attempt, among the newest deliveries of all
   * streams.
   */
  latest: DeliverySummary | undefined;
}

/**
 * Returns all streams with their conditions; undefined while the streams or the newest deliveries
 * load. The deliveries contain the reasons why streams fail.
 */
export function useFleet(): FleetStream[] | undefined {
  const { data: streams } = useQuery(streamsQuery);
  const { data, isPending } = useInfiniteQuery(deliveriesQuery({}));
  const { data: chains } = useQuery(chainsQuery);
  // A string of ids, so that the result changes only when a chain goes down or recovers. The chains
  // themselves change with every block.
  const downIds = (chains ?? [])
    .filter(isChainDown)
    .map(({ id }) => id)
    .join(' ');
  return useMemo(() => {
    if (isPending) return undefined;
    const newest = newestTried(toRecentDeliveries(data).rows);
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

/**
 * Returns the stream's latest delivery with an attempt. If none is loaded for a failing stream,
 * requests the stream's newest delivery that waits for a retry.
 */
export function useLatestDelivery(row: FleetStream | undefined): DeliverySummary | undefined {
  const { data } = useQuery({
    ...lastTriedQuery(row?.stream.id ?? ''),
    enabled: row !== undefined && isFailing(row) && row.latest === undefined,
  });
  return row?.latest ?? data ?? undefined;
}

/**
 * Returns the total number of retries, past and scheduled, of a delivery that waits for a retry;
 * undefined for other deliveries, and while loading.
 */
export function useRetries(latest: DeliverySummary | undefined): number | undefined {
  const waits = latest !== undefined && latest.error !== null && latest.nextAttemptAt !== null;
  const { data } = useQuery({
    ...deliveryQuery(latest?.id ?? ''),
    enabled: waits,
    // The total depends only on the schedule, so the previous one is shown while the next loads.
    // The latest delivery changes every few seconds.
    placeholderData: keepPreviousData,
  });
  return waits && data !== undefined ? data.attempts + data.remainingWaitsMs.length : undefined;
}

export const isFailing = (row: FleetStream): boolean => row.isFailing;

/** Describes which chains of a stream are down, and why; null if none are. */
export function useChainReason({ down }: Pick<FleetStream, 'down'>, now: number): string | null {
  const { data: chains } = useQuery(chainsQuery);
  const words = (chains ?? [])
    .filter(({ id }) => down.includes(id))
    .map((chain) => [`${chain.name} is down`, chainProblem(chain, now)].filter(Boolean).join(': '));
  return words.length === 0 ? null : words.join(' · ');
}
