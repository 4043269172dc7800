/** Live changes folded into the delivery lists and chains that the query cache holds. Pure. */
import type {
  ChainHealth,
  DeliveryPage,
  DeliveryPhase,
  DeliveryState,
  DeliverySummary,
  LiveEvent,
} from '@sluice/kit/sluice';
import type { WatchedChain } from './tape.ts';

/** Of the fields that the service filters by, those that the console does; one value each. */
export interface ListFilter {
  state?: DeliveryState;
  streamId?: string;
  chainId?: string;
  phase?: DeliveryPhase;
  /** `2xx` and so on, `none` where no answer came. */
  status?: string;
  /** The replay that last sent it again. */
  replayId?: string;
}

/** The shape of TanStack Query's infinite data. */
export interface DeliveryPages {
  pages: DeliveryPage[];
  pageParams: unknown[];
}

/** A row does not say which replay sent it: one that is listed stays. */
const passes = (delivery: DeliverySummary, filter: ListFilter): boolean =>
  (filter.state === undefined || filter.state === delivery.state) &&
  (filter.streamId === undefined || filter.streamId === delivery.streamId) &&
  (filter.chainId === undefined || filter.chainId === delivery.chainId) &&
  (filter.phase === undefined || filter.phase === delivery.phase) &&
  (filter.status === undefined || filter.status === statusClassOf(delivery));

/** Undefined before the first attempt. */
const statusClassOf = ({ status, attempts }: DeliverySummary): string | undefined => {
  if (status !== null) return `${Math.floor(status / 100)}xx`;
  return attempts > 0 ? 'none' : undefined;
};

/** Order of the lists: newest first; ids decide between equal times. */
const compare = (a: DeliverySummary, b: DeliverySummary): number =>
  b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);

/**
 * Rows that changed are replaced where they stand, or leave when they pass the filter no more; new
 * ones are put in their place. One that is older than everything loaded stays out while there are
 * pages to come: it will come with them.
 */
export function withDeliveries<T extends DeliveryPages>(
  data: T,
  deliveries: readonly DeliverySummary[],
  filter: ListFilter,
): T {
  const changed = new Map<string, DeliverySummary>();
  for (const delivery of deliveries) {
    const earlier = changed.get(delivery.id);
    if (earlier === undefined || earlier.updatedAt <= delivery.updatedAt) {
      changed.set(delivery.id, delivery);
    }
  }
  const pages = data.pages.map((page) => {
    if (!page.result.some(({ id }) => changed.has(id))) return page;
    const result: DeliverySummary[] = [];
    for (const row of page.result) {
      const next = changed.get(row.id);
      changed.delete(row.id);
      // After a reconnect an event can be older than what a refetch has brought.
      const current = next !== undefined && next.updatedAt >= row.updatedAt ? next : row;
      if (passes(current, filter)) result.push(current);
    }
    return { ...page, result };
  });
  const mayJoin = filter.replayId === undefined;
  const fresh = [...changed.values()].filter((row) => mayJoin && passes(row, filter)).sort(compare);
  for (const row of fresh) insertRow(pages, row);
  return { ...data, pages };
}

function insertRow(pages: DeliveryPage[], row: DeliverySummary): void {
  let index = pages.findIndex((page) => {
    const last = page.result.at(-1);
    return last !== undefined && compare(row, last) <= 0;
  });
  if (index === -1) {
    const last = pages.at(-1);
    if (last === undefined || last.cursor !== undefined) return;
    index = pages.length - 1;
  }
  const page = pages[index];
  if (page === undefined) return;
  const at = page.result.findIndex((other) => compare(row, other) <= 0);
  pages[index] = {
    ...page,
    result: page.result.toSpliced(at === -1 ? page.result.length : at, 0, row),
  };
}

/** All rows of the pages; a row that two pages name (rows moved between their reads) counts once. */
export function rowsOf({ pages }: Pick<DeliveryPages, 'pages'>): DeliverySummary[] {
  const ids = new Set<string>();
  const rows: DeliverySummary[] = [];
  for (const page of pages) {
    for (const row of page.result) {
      if (ids.has(row.id)) continue;
      ids.add(row.id);
      rows.push(row);
    }
  }
  return rows;
}

/**
 * Holds a list still while its reader is scrolled down or has paused: rows newer than the anchor
 * are counted, not shown.
 */
export function heldRows(
  rows: DeliverySummary[],
  anchor: Pick<DeliverySummary, 'id' | 'createdAt'> | null,
): { shown: DeliverySummary[]; newer: number } {
  if (anchor === null) return { shown: rows, newer: 0 };
  let newer = rows.findIndex(
    (row) =>
      row.id === anchor.id ||
      row.createdAt < anchor.createdAt ||
      (row.createdAt === anchor.createdAt && row.id < anchor.id),
  );
  if (newer === -1) newer = rows.length;
  return newer === 0 ? { shown: rows, newer } : { shown: rows.slice(newer), newer };
}

/** The delivery of the same match in the other phase, by delivery id. */
export function pairsOf(rows: readonly DeliverySummary[]): Map<string, DeliverySummary> {
  const first = new Map<string, DeliverySummary>();
  const pairs = new Map<string, DeliverySummary>();
  for (const row of rows) {
    const other = first.get(row.matchId);
    if (other === undefined) {
      first.set(row.matchId, row);
    } else if (other.phase !== row.phase) {
      pairs.set(row.id, other);
      pairs.set(other.id, row);
    }
  }
  return pairs;
}

/** Replaces a job or a replay where it stands, or puts it first: it was just made. */
export function withLatest<T extends { id: string }>(list: readonly T[], item: T): T[] {
  const at = list.findIndex(({ id }) => id === item.id);
  return at === -1 ? [item, ...list] : list.with(at, item);
}

/** What the chain itself calls final is told with its state; counted blocks can be counted here. */
const confirmedWith = (
  { confirmations, confirmedUpTo }: WatchedChain,
  checkpoint: number,
): number | null =>
  confirmations === 'finalized' || checkpoint < confirmations
    ? confirmedUpTo
    : Math.max(confirmedUpTo ?? 0, checkpoint - confirmations);

/** Blocks a tape can show. */
const KEPT_BLOCKS = 60;

/** A fresh answer, with the removed blocks that earlier events told of. */
export function watchChains(
  chains: readonly ChainHealth[],
  earlier: readonly WatchedChain[] | undefined,
): WatchedChain[] {
  return chains.map((chain) => ({
    ...chain,
    removed: earlier?.find(({ id }) => id === chain.id)?.removed ?? [],
  }));
}

/** Blocks, reorgs and states of chains; other events change nothing here. */
export function withChainEvent(chains: readonly WatchedChain[], event: LiveEvent): WatchedChain[] {
  return chains.map((chain) => {
    switch (event.type) {
      case 'block': {
        if (event.chainId !== chain.id) return chain;
        const below = chain.blocks.filter(({ number }) => number < event.block.number);
        const blocks = [event.block, ...below].slice(0, KEPT_BLOCKS);
        const oldest = blocks.at(-1)?.number ?? 0;
        return {
          ...chain,
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
        return event.chain.id === chain.id ? { ...chain, ...event.chain } : chain;
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
