/** Collects the events and functions that a dry run observes at the watched addresses. */
import type { ObservedEvent, ObservedMovePath } from '@sluice/kit/sluice';
import { mergeObserved } from '@sluice/kit/operator';

/** An event, a function or an event type. */
export type ObservedEntry = ObservedEvent | ObservedMovePath;

/**
 * The entries that dry runs have observed. They do not depend on the selected events, so they are
 * kept until the inputs in `of` change.
 */
export interface Observed {
  /** Key of the chain, the addresses and other inputs that affect the results. */
  of: string;
  /** Entries by block number, so that a block that runs again counts once. */
  blocks: ReadonlyMap<number, readonly ObservedEntry[]>;
  /**
   * Keys of the rows in display order. The order is stable, so that rows do not move under the
   * pointer.
   */
  order: readonly string[];
  /** True if {@link settleObserved} has sorted the rows by frequency. */
  isSettled: boolean;
}

/**
 * Returns the key of the row of an entry. Events with the same topic share a row, even if different
 * inputs are indexed.
 */
const rowOf = (entry: ObservedEntry): string =>
  'path' in entry ? `${entry.kind} ${entry.path}` : entry.topic0;

export const emptyObserved = (of: string): Observed => ({
  of,
  blocks: new Map(),
  order: [],
  isSettled: false,
});

/**
 * Adds the entries of a block, or replaces them if the block has run before. New rows go to the
 * end. Starts over if `of` has changed.
 */
export function withObserved(
  before: Observed,
  of: string,
  blockNumber: number,
  found: readonly ObservedEntry[],
): Observed {
  const observed = before.of === of ? before : emptyObserved(of);
  return {
    ...observed,
    blocks: new Map(observed.blocks).set(blockNumber, found),
    order: [...new Set([...observed.order, ...found.map(rowOf)])],
  };
}

/**
 * Sorts the rows by frequency at the end of the first run.
 * @param again whether to sort even if the rows were sorted before, because the user continued or
 * stopped the run.
 */
export function settleObserved(observed: Observed, { again }: { again: boolean }): Observed {
  if (observed.isSettled && !again) return observed;
  const rows = rowsOf(observed).toSorted((a, b) => b.count - a.count);
  return { ...observed, order: rows.map(({ key }) => key), isSettled: true };
}

/** A row with its count in all blocks. */
export interface ObservedRow {
  key: string;
  count: number;
  /** The entries that the row combines. */
  entries: readonly ObservedEntry[];
}

/** Returns the rows in display order. */
export function rowsOf({ blocks, order }: Observed): ObservedRow[] {
  const rows = Map.groupBy(mergeObserved([], [...blocks.values()].flat()), rowOf);
  return order.map((key) => {
    const entries = rows.get(key) ?? [];
    return { key, count: entries.reduce((sum, { count }) => sum + count, 0), entries };
  });
}
