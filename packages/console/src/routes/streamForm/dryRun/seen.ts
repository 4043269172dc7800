/** What the watched addresses had in the blocks that were asked. Pure. */
import { mergeSeen, type SeenEvent, type SeenMovePath } from '@sluice/kit/sluice';

/** Events of EVM; of Aptos functions and types of events. */
export type SeenEntry = SeenEvent | SeenMovePath;

/** Kept while the same addresses are asked about: what of it is chosen makes no difference to it. */
export interface Seen {
  /** The chain, the addresses and what else decides what is told, as a key. */
  of: string;
  /** By number: a block that is asked again counts once. */
  blocks: ReadonlyMap<number, readonly SeenEntry[]>;
  /** Keys of rows in the order they are shown in: nobody finds another under the finger. */
  order: readonly string[];
  /** Whether {@link settleSeen} has put the order by what is frequent. */
  isSettled: boolean;
}

/** What stands in one row: events of one topic are one, whatever of them is indexed. */
const rowOf = (entry: SeenEntry): string =>
  'path' in entry ? `${entry.kind} ${entry.path}` : entry.topic0;

export const noneSeen = (of: string): Seen => ({
  ...{ of, blocks: new Map(), order: [], isSettled: false },
});

/** With what came of one more block; what is new stands at the end. */
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
 * The most frequent first, once a run has come to its end.
 * @param anew also where that was done before: somebody asked for more.
 */
export function settleSeen(seen: Seen, { anew }: { anew: boolean }): Seen {
  if (seen.isSettled && !anew) return seen;
  const rows = rowsOf(seen).toSorted((a, b) => b.count - a.count);
  return { ...seen, order: rows.map(({ key }) => key), isSettled: true };
}

/** A row, of all blocks that were asked. */
export interface SeenRow {
  key: string;
  count: number;
  /** What is counted apart in it. */
  entries: readonly SeenEntry[];
}

/** In the order to show them in. */
export function rowsOf({ blocks, order }: Seen): SeenRow[] {
  const rows = Map.groupBy(mergeSeen([], [...blocks.values()].flat()), rowOf);
  return order.map((key) => {
    const entries = rows.get(key) ?? [];
    return { key, count: entries.reduce((sum, { count }) => sum + count, 0), entries };
  });
}
