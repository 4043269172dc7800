/** Adds up observed events and paths over the blocks of a dry run. */
import type { SeenEvent, SeenMovePath } from '../contract/shapes.generated.ts';

/** Merges two lists, most frequent first, with one entry for each event or path. */
export function mergeSeen<T extends SeenEvent | SeenMovePath>(
  known: readonly T[],
  found: readonly T[],
): T[] {
  const entries = new Map(known.map((each) => [keyOf(each), each]));
  for (const each of found) {
    const { count = 0 } = entries.get(keyOf(each)) ?? {};
    entries.set(keyOf(each), { ...each, count: count + each.count });
  }
  return [...entries.values()].sort((a, b) => b.count - a.count);
}

const keyOf = (seen: SeenEvent | SeenMovePath): string =>
  'path' in seen ? `${seen.kind} ${seen.path}` : `${seen.topic0} ${seen.indexed}`;
