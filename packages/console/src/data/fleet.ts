/** Streams with their condition: what the overview lists and the tab's title counts. */
import type { DeliverySummary, StreamSummary } from '@sluice/kit/sluice';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { chainsQuery } from './queries/chains.ts';
import { deliveriesQuery, lastTriedQuery } from './queries/deliveries.ts';
import { deliveryQuery } from './queries/delivery.ts';
import { streamsQuery } from './queries/streams.ts';
import {
  CHAIN_DOWN,
  chainTrouble,
  isChainDown,
  newestTried,
  streamCondition,
} from '../words/condition.ts';
import type { Condition } from '../ui/status.tsx';
import { rowsOf, type DeliveryPages } from './live/liveCache.ts';

/** Enough for the tapes of a busy fleet, few enough to walk four times a second. */
const RECENT_ROWS = 2_000;

const NONE: readonly DeliverySummary[] = [];

export interface RecentDeliveries {
  /** Newest first. */
  rows: readonly DeliverySummary[];
  /** Deliveries made before this time may be missing. */
  since: number;
}

/** The newest deliveries of all streams: what the Deliveries screen has loaded. */
export function useRecentDeliveries(): RecentDeliveries {
  const { data } = useInfiniteQuery(deliveriesQuery({}));
  return useMemo(() => recentOf(data), [data]);
}

/** The newest of a list that may not be there yet. */
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
  /** Whether its deliveries fail, whatever its chains do. */
  isFailing: boolean;
  /** The ids of its chains that are down; none of a stream that is paused or has ended. */
  down: readonly string[];
  /** The newest delivery that was tried. */
  latest: DeliverySummary | undefined;
}

/** Known once the newest deliveries are, which say why a stream fails; or cannot be read. */
export function useFleet(): FleetStream[] | undefined {
  const { data: streams } = useQuery(streamsQuery);
  const { data, isPending } = useInfiniteQuery(deliveriesQuery({}));
  const { data: chains } = useQuery(chainsQuery);
  // Chains are others with every block; which of them are down is seldom another.
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

/** The newest delivery that was tried; of a stream that fails it is looked for where it is not at hand. */
export function useLatest(row: FleetStream | undefined): DeliverySummary | undefined {
  const { data } = useQuery({
    ...lastTriedQuery(row?.stream.id ?? ''),
    enabled: row !== undefined && isFailing(row) && row.latest === undefined,
  });
  return row?.latest ?? data ?? undefined;
}

/**
 * How often a delivery that failed is tried again at most, counted with what was; undefined while that is
 * not known.
 */
export function useRetries(latest: DeliverySummary | undefined): number | undefined {
  const waits = latest !== undefined && latest.error !== null && latest.nextAttemptAt !== null;
  const { data } = useQuery({
    ...deliveryQuery(latest?.id ?? ''),
    enabled: waits,
    // Of a stream that fails another one is the latest every few seconds; their schedule is one.
    placeholderData: keepPreviousData,
  });
  return waits && data !== undefined ? data.attempts + data.laterWaitsMs.length : undefined;
}

export const isFailing = (row: FleetStream): boolean => row.isFailing;

/** Why the chains of a stream are down, each with its name. */
export function useChainReason({ down }: Pick<FleetStream, 'down'>, now: number): string | null {
  const { data: chains } = useQuery(chainsQuery);
  const words = (chains ?? [])
    .filter(({ id }) => down.includes(id))
    .map((chain) => [`${chain.name} is down`, chainTrouble(chain, now)].filter(Boolean).join(': '));
  return words.length === 0 ? null : words.join(' · ');
}
