/** Observed events and paths of the watched addresses in the blocks of a dry run. Pure. */
import { mergeSeen, type SeenEvent, type SeenMovePath } from '@sluice/kit/sluice';

/** An EVM event, or an Aptos function or event type. */
export type SeenEntry = SeenEvent | SeenMovePath;

/** Kept while the addresses stay the same; the selected events do not affect it. */
export interface Seen {
  /** Key of the chain, the addresses and other inputs that affect the results. */
  of: string;
  /** By block number, so that a block that runs again counts once. */
  blocks: ReadonlyMap<number, readonly SeenEntry[]>;
  /** Keys of the rows in display order, which is stable so that no click hits another row. */
  order: readonly string[];
  /** Whether {@link settleSeen} has sorted the order by frequency. */
  isSettled: boolean;
}

/** Returns the row of an entry: events with one topic share it, whatever is indexed. */
const rowOf = (entry: SeenEntry): string =>
  'path' in entry ? `${entry.kind} ${entry.path}` : entry.topic0;

export const noneSeen = (of: string): Seen => ({
  ...{ of, blocks: new Map(), order: [], isSettled: false },
});

/** Adds the entries of a block; new rows go to the end. */
export function withSeen(
  before: Seen,
  of: string,
  blockNumber: number,
  found: readonly SeenEntry[],
): Seen {
  const seen = before.of === of ? before : noneSeen(of);
  return {
    ...seen,
    blocks: new Map(seen.blocks).set(blockNumber, found),
    order: [...new Set([...seen.order, ...found.map(rowOf)])],
  };
}

/**
 * Sorts the rows by frequency at the end of a run.
 * @param again sorts again, because the user requested more blocks.
 */
export function settleSeen(seen: Seen, { again }: { again: boolean }): Seen {
  if (seen.isSettled && !again) return seen;
  const rows = rowsOf(seen).toSorted((a, b) => b.count - a.count);
  return { ...seen, order: rows.map(({ key }) => key), isSettled: true };
}

/** A row with the count of all blocks. */
export interface SeenRow {
  key: string;
  count: number;
  /** The entries that the row combines. */
  entries: readonly SeenEntry[];
}

/** Returns the rows in display order. */
export function rowsOf({ blocks, order }: Seen): SeenRow[] {
  const rows = Map.groupBy(mergeSeen([], [...blocks.values()].flat()), rowOf);
  return order.map((key) => {
    const entries = rows.get(key) ?? [];
    return { key, count: entries.reduce((sum, { count }) => sum + count, 0), entries };
  });
}
