/**
 * Follows the live feed: one connection per page, whose events update the query cache in batches.
 */
import type { DeliveryDetail, LiveEvent, LiveState, Replay } from '@sluice/kit/sluice';
import { notifyManager, type QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { queryKeys, sluice } from '../queries/service.ts';
import { streamsQuery, jobsQuery } from '../queries/streams.ts';
import { chainsQuery } from '../queries/chains.ts';
import { showReplay } from '../queries/replays.ts';
import type { DeliveryLists } from '../queries/deliveries.ts';
import { retryFailed } from '../outages.ts';
import { isOutdated } from './refreshes.ts';
import { recordChange } from './recentChanges.ts';
import { isOpen } from '../replayStatus.ts';
import {
  KEPT_ROWS,
  withChainEvent,
  withDeliveries,
  withLatest,
  withNewest,
  type ListFilter,
} from './liveCache.ts';

/** Minimum time between two updates of the page, however many events arrive. */
const PAINT_INTERVAL_MS = 250;

/** Minimum time between two reloads of the stream summaries, which contain 24-hour counts. */
const SUMMARY_INTERVAL_MS = 2_000;

/** Minimum time between two reloads of the newest blocks with their deliveries. */
const BLOCKS_INTERVAL_MS = 2_000;

/** Minimum time between two reloads of the figures of visible replays. */
const REPLAYS_INTERVAL_MS = 1_000;

/** Time for which a row counts as new. */
const FRESH_MS = 600;

export interface LiveStatus {
  /**
   * `connecting` is the initial state; `closed` means that the connection ended permanently, for
   * example because the session was rejected.
   */
  state: 'connecting' | 'live' | 'reconnecting' | 'closed';
  /** Time at which the state began, in Unix milliseconds. */
  since: number;
}

let status: LiveStatus = { state: 'connecting', since: Date.now() };
const listeners = new Set<() => void>();

function setStatus(state: LiveStatus['state']): void {
  if (status.state === state) return;
  status = { state, since: Date.now() };
  for (const listener of listeners) listener();
}

function showState({ state }: LiveState): void {
  if (state === 'live' || state === 'closed') setStatus(state);
  else if (state === 'waiting' || status.state === 'closed') setStatus('reconnecting');
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useLiveStatus = (): LiveStatus => useSyncExternalStore(subscribe, () => status);

const arrivals = new Map<string, number>();

/** Returns whether a delivery has just appeared, so that its row fades in. */
export const isFresh = (id: string): boolean => {
  const at = arrivals.get(id);
  return at !== undefined && Date.now() - at < FRESH_MS;
};

/**
 * Follows the service's events until the signal is aborted.
 * @param onError receives the error that ended the feed permanently, such as a rejected session.
 */
export async function followLive(
  queryClient: QueryClient,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<void> {
  let waiting: LiveEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let paintedAt = 0;
  let resumable = false;

  const paint = (): void => {
    timer = undefined;
    paintedAt = Date.now();
    const events = waiting;
    waiting = [];
    notifyManager.batch(() => applyEvents(queryClient, events));
  };

  const onState = (state: LiveState): void => {
    if (signal.aborted) return;
    showState(state);
    if (state.state !== 'live') return;
    // Without an event to resume from, changes before the connection may have been missed.
    if (!resumable) readAnew(queryClient);
    // After a reconnect, the service sends the missed events, but not the current block age.
    else void queryClient.invalidateQueries({ queryKey: queryKeys.chains, exact: true });
    void retryFailed(queryClient);
  };

  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  try {
    for await (const { event } of sluice.liveEvents({ signal, onState })) {
      resumable = true;
      if (event.type === 'delivery') recordChange(event.delivery, Date.now());
      waiting.push(event);
      timer ??= setTimeout(paint, Math.max(0, paintedAt + PAINT_INTERVAL_MS - Date.now()));
    }
  } catch (error) {
    if (!signal.aborted) onError(error);
  }
}

/** Returns a function that reloads queries, at most once per interval. */
function createRefresh(queryKey: readonly string[], intervalMs: number) {
  let dueAt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (queryClient: QueryClient, delayMs: number): void => {
    timer ??= setTimeout(
      () => {
        timer = undefined;
        dueAt = Date.now() + intervalMs;
        void queryClient.invalidateQueries({ queryKey });
      },
      Math.max(delayMs, dueAt - Date.now()),
    );
  };
}

const refreshSummaries = createRefresh(queryKeys.streams, SUMMARY_INTERVAL_MS);
const refreshBlocks = createRefresh(queryKeys.blocks, BLOCKS_INTERVAL_MS);

let replaysDueAt = 0;
let replaysTimer: ReturnType<typeof setTimeout> | undefined;
/** Ids of the replays to reload when the timer fires. */
const replaysToRead = new Set<unknown>();

/**
 * Reloads the visible replays that can still change, and the lists and counts of their deliveries,
 * because delivery events do not name the replay.
 */
function refreshReplays(queryClient: QueryClient): void {
  const shown = queryClient.getQueriesData<Replay>({ queryKey: queryKeys.replay, type: 'active' });
  for (const [[, id, part], replay] of shown) {
    // The response for a replay that is still loading may not include this event yet.
    if (part === undefined && (replay === undefined || isOpen(replay))) replaysToRead.add(id);
  }
  if (replaysToRead.size === 0) return;
  replaysTimer ??= setTimeout(
    () => {
      replaysTimer = undefined;
      replaysDueAt = Date.now() + REPLAYS_INTERVAL_MS;
      const due = new Set(replaysToRead);
      replaysToRead.clear();
      void queryClient.invalidateQueries({
        predicate: ({ queryKey: [what, which] }) =>
          what === 'replay'
            ? due.has(which)
            : (what === 'deliveries' || what === 'counts') &&
              due.has((which as ListFilter | undefined)?.replayId),
      });
    },
    Math.max(PAINT_INTERVAL_MS, replaysDueAt - Date.now()),
  );
}

/** Reloads everything, because events may be missing. Lists keep only their first page. */
function readAnew(queryClient: QueryClient): void {
  queryClient.setQueriesData<DeliveryLists>(
    { queryKey: queryKeys.deliveries },
    (lists) =>
      lists && { pages: lists.pages.slice(0, 1), pageParams: lists.pageParams.slice(0, 1) },
  );
  void queryClient.invalidateQueries();
}

/** Interval between two reloads of the queries of a stream, which many events can change. */
const STREAM_INTERVAL_MS = 1_000;
let streamsTimer: ReturnType<typeof setTimeout> | undefined;
let streamEvents: LiveEvent[] = [];

/** Reloads the queries of single streams that these events may have changed. */
function refreshStreams(queryClient: QueryClient, events: readonly LiveEvent[]): void {
  const isShown = (event: LiveEvent): boolean =>
    queryClient
      .getQueryCache()
      .getAll()
      .some(({ queryKey }) => isOutdated(queryKey, [event]));
  streamEvents.push(...events.filter(isShown));
  if (streamEvents.length === 0) return;
  streamsTimer ??= setTimeout(() => {
    streamsTimer = undefined;
    const due = streamEvents;
    streamEvents = [];
    void queryClient.invalidateQueries(
      { predicate: ({ queryKey }) => isOutdated(queryKey, due) },
      // A long list of addresses is reloaded completely, however often the stream changes.
      { cancelRefetch: false },
    );
  }, STREAM_INTERVAL_MS);
}

export function applyEvents(queryClient: QueryClient, events: readonly LiveEvent[]): void {
  if (events.some(({ type }) => type === 'reset')) {
    readAnew(queryClient);
    return;
  }
  const deliveries = events.flatMap((event) => (event.type === 'delivery' ? [event.delivery] : []));
  if (deliveries.length > 0) {
    markArrivals(deliveries);
    applyDeliveries(queryClient, deliveries);
    refreshSummaries(queryClient, PAINT_INTERVAL_MS);
    refreshBlocks(queryClient, PAINT_INTERVAL_MS);
    refreshReplays(queryClient);
  }
  const ofChains = events.filter(({ type }) => ['block', 'reorg', 'chain'].includes(type));
  if (ofChains.length > 0) {
    refreshBlocks(queryClient, PAINT_INTERVAL_MS);
    queryClient.setQueryData(chainsQuery.queryKey, (chains) =>
      chains === undefined
        ? undefined
        : ofChains.reduce((now, event) => withChainEvent(now, event, Date.now()), chains),
    );
  }
  if (events.some(({ type }) => type === 'inbox')) {
    void queryClient.invalidateQueries({ queryKey: queryKeys.inboxes });
  }
  refreshStreams(queryClient, events);
  for (const event of events) {
    if (event.type === 'stream') refreshSummaries(queryClient, 0);
    else if (event.type === 'replay') {
      showReplay(queryClient, event.replay);
      refreshReplays(queryClient);
    } else if (event.type === 'job') {
      queryClient.setQueryData(
        jobsQuery(event.job.streamId).queryKey,
        (jobs) => jobs && withLatest(jobs, event.job),
      );
    }
  }
}

type Deliveries = Extract<LiveEvent, { type: 'delivery' }>['delivery'][];

function markArrivals(deliveries: Deliveries): void {
  const now = Date.now();
  for (const [id, at] of arrivals) if (now - at > FRESH_MS) arrivals.delete(id);
  for (const { id, attempts, createdAt } of deliveries) {
    // A retry of an older delivery does not count as a new row.
    if (attempts === 0 || now - createdAt < 10_000) arrivals.set(id, now);
  }
}

function applyDeliveries(queryClient: QueryClient, deliveries: Deliveries): void {
  const lists = queryClient.getQueryCache().findAll({ queryKey: queryKeys.deliveries });
  for (const { queryKey, state } of lists) {
    const data = state.data as DeliveryLists | undefined;
    if (data === undefined) continue;
    const changed = withDeliveries(data, deliveries, queryKey[1] as ListFilter);
    if (changed !== data) queryClient.setQueryData(queryKey, withNewest(changed, KEPT_ROWS));
  }
  const newest = new Map<string, number>();
  for (const { streamId, createdAt } of deliveries) {
    newest.set(streamId, Math.max(newest.get(streamId) ?? 0, createdAt));
  }
  queryClient.setQueryData(streamsQuery.queryKey, (streams) =>
    streams?.map((stream) => {
      const lastDeliveryAt = Math.max(newest.get(stream.id) ?? 0, stream.lastDeliveryAt ?? 0);
      return lastDeliveryAt === 0 ? stream : { ...stream, lastDeliveryAt };
    }),
  );
  const ids = new Set<unknown>(deliveries.map(({ id }) => id));
  const matchIds = new Set<unknown>(deliveries.map(({ matchId }) => matchId));
  // Events contain only summaries, so the details and bodies of these deliveries, and of the other
  // deliveries of their matches, are reloaded.
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [what, id], state: { data } }) =>
      what === 'delivery' &&
      (ids.has(id) || matchIds.has((data as DeliveryDetail | undefined)?.matchId)),
  });
}
