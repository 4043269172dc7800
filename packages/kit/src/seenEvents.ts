/** What the addresses of a dry run had, added up over its blocks. Pure. */
import type { SeenEvent } from './contract/blocks.ts';

/** Both lists as one, most frequent first: the same event of another block is the same entry. */
export function mergeSeenEvents(
  known: readonly SeenEvent[],
  found: readonly SeenEvent[],
): SeenEvent[] {
  const events = new Map(known.map((each) => [keyOf(each), each]));
  for (const each of found) {
    const { count = 0 } = events.get(keyOf(each)) ?? {};
    events.set(keyOf(each), { ...each, count: count + each.count });
  }
  return [...events.values()].sort((a, b) => b.count - a.count);
}

const keyOf = ({ topic0, indexed }: SeenEvent): string => `${topic0} ${indexed}`;
