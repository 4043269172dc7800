/** Applies live changes to the cached deliveries and chains. */
import { timeOfId } from '@sluice/kit/contract';
import type {
  ChainHealth,
  DeliveryPage,
  DeliverySearch,
  DeliverySummary,
  ListDeliveriesOptions,
  LiveEvent,
} from '@sluice/kit/sluice';
import type { WatchedChain } from '../../chains/timeline.ts';

/** Maximum number of rows in a list; the newest are kept. */
export const KEPT_ROWS = 100_000;

type FilterName =
  | 'state'
  | 'streamId'
  | 'destination'
  | 'chainId'
  | 'phase'
  | 'status'
  | 'attemptsFrom'
  | 'attemptsTo'
  | 'blockFrom'
  | 'blockTo'
  | 'createdFrom'
  | 'createdTo'
  | 'reorged'
  | 'replayId'
  | 'find'
  | 'body'
  | 'attemptedFrom'
  | 'attemptedTo'
  | 'durationFrom'
  | 'durationTo'
  | 'attemptResult'
  | 'receiver';

/** Filter and search of a delivery list: a subset of the service's fields, each with one value. */
export type ListFilter = {
  [Name in FilterName]?: Exclude<ListDeliveriesOptions[Name], readonly unknown[] | undefined>;
} & {
  /** Maximum age of a delivery, in milliseconds. */
  sinceMs?: number;
};

/**
 * Returns whether a filter is a search. Each page of a search checks a limited number of
 * deliveries, so it may be incomplete or empty.
 */
export const isSearch = (filter: ListFilter): boolean =>
  SEARCHES.some((name) => filter[name] !== undefined);

/** Returns the filter without its search. */
export const withoutSearch = (filter: ListFilter): ListFilter =>
  Object.fromEntries(
    Object.entries(filter).filter(([name]) => !SEARCHES.some((each) => each === name)),
  );

/** The fields of a filter that only a search has. */
const SEARCHES = [
  'find',
  'body',
  'attemptedFrom',
  'attemptedTo',
  'durationFrom',
  'durationTo',
  'attemptResult',
] as const satisfies (keyof DeliverySearch)[];

/** The shape of TanStack Query's infinite data. */
export interface DeliveryPages {
  pages: DeliveryPage[];
  pageParams: unknown[];
}

/**
 * Returns whether a delivery passes the filter. Ignores fields that rows do not contain, such as
 * `replayId`, `find` and `body`, so that listed rows stay.
 */
const passes = (delivery: DeliverySummary, filter: ListFilter): boolean =>
  (filter.state === undefined || filter.state === delivery.state) &&
  (filter.streamId === undefined || filter.streamId === delivery.streamId) &&
  (filter.destination === undefined || filter.destination === (delivery.destination ?? 0)) &&
  (filter.chainId === undefined || filter.chainId === delivery.chainId) &&
  (filter.phase === undefined || filter.phase === delivery.phase) &&
  (filter.status === undefined ||
    filter.status === statusClassOf(delivery) ||
    filter.status === String(delivery.status)) &&
  delivery.attempts >= (filter.attemptsFrom ?? 0) &&
  delivery.attempts <= (filter.attemptsTo ?? Infinity) &&
  (filter.blockFrom === undefined || delivery.blockNumber >= filter.blockFrom) &&
  (filter.blockTo === undefined || delivery.blockNumber <= filter.blockTo) &&
  (filter.createdFrom === undefined || timeOfId(delivery.id) >= filter.createdFrom) &&
  (filter.createdTo === undefined || timeOfId(delivery.id) <= filter.createdTo) &&
  (filter.sinceMs === undefined || timeOfId(delivery.id) >= Date.now() - filter.sinceMs);

/**
 * Returns the class of the status, `none` without a response, or undefined before the first
 * attempt.
 */
const statusClassOf = ({ status, attempts }: DeliverySummary): string | undefined => {
  if (status !== null) return `${Math.floor(status / 100)}xx`;
  return attempts > 0 ? 'none' : undefined;
};

/**
 * Returns the index of an id in a list, or the index at which to insert it. Ids start with their
 * creation time, and lists have the newest first.
 */
export function placeOf(rows: readonly Pick<DeliverySummary, 'id'>[], id: string): number {
  let from = 0;
  let to = rows.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((rows[middle]?.id ?? '') > id) from = middle + 1;
    else to = middle;
  }
  return from;
}

export function findRow(
  rows: readonly DeliverySummary[],
  id: string | undefined,
): DeliverySummary | undefined {
  const row = id === undefined ? undefined : rows[placeOf(rows, id)];
  return row?.id === id ? row : undefined;
}

/**
 * Replaces changed rows in place, removes those that no longer pass the filter, and inserts new
 * ones that belong to a loaded page. Searches, and lists of a replay, a receiver or removed
 * blocks, get no new rows. Only pages that change are copied, each once.
 */
export function withDeliveries<T extends DeliveryPages>(
  data: T,
  deliveries: readonly DeliverySummary[],
  filter: ListFilter,
): T {
  const latest = new Map<string, DeliverySummary>();
  for (const delivery of deliveries) {
    const earlier = latest.get(delivery.id);
    if (earlier === undefined || earlier.updatedAt <= delivery.updatedAt) {
      latest.set(delivery.id, delivery);
    }
  }
  const changes = Map.groupBy(
    [...latest.values()].sort((a, b) => (a.id < b.id ? 1 : -1)),
    ({ id }) => pageOf(data.pages, id),
  );
  const pages = data.pages.map((page) => {
    const its = changes.get(page);
    if (its === undefined) return page;
    const result = withChanged(page.result, its, filter);
    return result === page.result ? page : { ...page, result };
  });
  return pages.every((page, index) => page === data.pages[index]) ? data : { ...data, pages };
}

/** Returns the page to which an id belongs; undefined if that page is not loaded. */
function pageOf(pages: readonly DeliveryPage[], id: string): DeliveryPage | undefined {
  const page = pages.find(({ result }) => (result.at(-1)?.id ?? '~') <= id);
  if (page !== undefined) return page;
  const last = pages.at(-1);
  return last?.cursor === undefined ? last : undefined;
}

/** @param changes newest first, one per delivery. */
function withChanged(
  rows: DeliverySummary[],
  changes: readonly DeliverySummary[],
  filter: ListFilter,
): DeliverySummary[] {
  const mayJoin =
    filter.replayId === undefined &&
    filter.receiver === undefined &&
    filter.reorged !== true &&
    !isSearch(filter);
  const parts: DeliverySummary[][] = [];
  let copied = 0;
  for (const change of changes) {
    const at = placeOf(rows, change.id);
    const known = rows[at]?.id === change.id ? rows[at] : undefined;
    // After a reconnect, an event can be older than the refetched data.
    const isStale = known !== undefined && known.updatedAt > change.updatedAt;
    const isListed = (known !== undefined || mayJoin) && passes(change, filter);
    if (isStale || (known === undefined && !isListed)) continue;
    parts.push(rows.slice(copied, at), isListed ? [change] : []);
    copied = known === undefined ? at : at + 1;
  }
  return parts.length === 0 ? rows : parts[0]!.concat(...parts.slice(1), rows.slice(copied));
}

/**
 * Keeps the `count` newest rows. A truncated page loses its cursor, so that older rows can no
 * longer be loaded.
 */
export function withNewest<T extends DeliveryPages>(data: T, count: number): T {
  let room = count;
  const pages: DeliveryPage[] = [];
  for (const page of data.pages) {
    if (room <= 0) break;
    pages.push(page.result.length <= room ? page : { result: page.result.slice(0, room) });
    room -= page.result.length;
  }
  return room >= 0 && pages.length === data.pages.length
    ? data
    : { ...data, pages, pageParams: data.pageParams.slice(0, pages.length) };
}

/**
 * Returns all rows of the pages. A row that moved between requests can be on two pages, but is
 * returned once.
 */
export function rowsOf({ pages }: Pick<DeliveryPages, 'pages'>): DeliverySummary[] {
  const [first = [], ...others] = pages
    .map(({ result }) => result)
    .filter((result) => result.length > 0);
  if (others.length === 0) return first;
  let last = first.at(-1)?.id ?? '';
  return first.concat(
    ...others.map((result) => {
      const rows = result.slice(placeOf(result, last));
      if (rows[0]?.id === last) rows.shift();
      last = rows.at(-1)?.id ?? last;
      return rows;
    }),
  );
}

/**
 * Returns the rows to show while the user has scrolled down or paused a list. Rows newer than the
 * anchor are counted but not shown.
 */
export function heldRows(
  rows: readonly DeliverySummary[],
  anchor: Pick<DeliverySummary, 'id'> | null,
): { shown: readonly DeliverySummary[]; newer: number } {
  const newer = anchor === null ? 0 : placeOf(rows, anchor.id);
  return { shown: newer === 0 ? rows : rows.slice(newer), newer };
}

/** Replaces a job or replay in place, or adds a new one at the start. */
export function withLatest<T extends { id: string }>(list: readonly T[], item: T): T[] {
  const at = list.findIndex(({ id }) => id === item.id);
  return at === -1 ? [item, ...list] : list.with(at, item);
}

/**
 * Returns the newest confirmed height after a new checkpoint. It stays the same if the chain itself
 * reports finality.
 */
const confirmedWith = (
  { confirmations, confirmedUpTo }: WatchedChain,
  checkpoint: number,
): number | null =>
  confirmations === 'finalized' || checkpoint < confirmations
    ? confirmedUpTo
    : Math.max(confirmedUpTo ?? 0, checkpoint - confirmations);

/** Maximum number of current blocks, and of removed blocks, that are kept for a timeline. */
const KEPT_BLOCKS = 60;

/** Adds the report time and the removed blocks of earlier events to a new response. */
export function watchChains(
  chains: readonly ChainHealth[],
  earlier: readonly WatchedChain[] | undefined,
  now: number,
): WatchedChain[] {
  return chains.map((chain) => ({
    ...chain,
    reportedAt: now,
    removed: earlier?.find(({ id }) => id === chain.id)?.removed ?? [],
  }));
}

/** Applies block, reorg and chain events; other events are ignored. */
export function withChainEvent(
  chains: readonly WatchedChain[],
  event: LiveEvent,
  now: number,
): WatchedChain[] {
  return chains.map((chain) => {
    switch (event.type) {
      case 'block': {
        if (event.chainId !== chain.id) return chain;
        const below = chain.blocks.filter(({ number }) => number < event.block.number);
        const blocks = [event.block, ...below].slice(0, KEPT_BLOCKS);
        const oldest = blocks.at(-1)?.number ?? 0;
        return {
          ...chain,
          ...(event.head !== chain.head && { headAgeMs: 0, reportedAt: now }),
          head: event.head,
          checkpoint: event.block.number,
          confirmedUpTo: confirmedWith(chain, event.block.number),
          blocks,
          removed: chain.removed.filter(({ number }) => number >= oldest),
        };
      }
      case 'reorg': {
        if (event.chainId !== chain.id) return chain;
        const left = chain.blocks.filter(({ number }) => number > event.blockNumber);
        return {
          ...chain,
          checkpoint: Math.min(chain.checkpoint ?? event.blockNumber, event.blockNumber),
          blocks: chain.blocks.filter(({ number }) => number <= event.blockNumber),
          removed: [...left, ...chain.removed].slice(0, KEPT_BLOCKS),
        };
      }
      case 'chain':
        return event.chain.id === chain.id ? { ...chain, ...event.chain, reportedAt: now } : chain;
      case 'delivery':
      case 'stream':
      case 'job':
      case 'inbox':
      case 'replay':
      case 'reset':
        return chain;
    }
  });
}
