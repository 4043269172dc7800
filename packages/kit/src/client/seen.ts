/** What the addresses of a dry run had, added up over its blocks. Pure. */
import type { SeenEvent, SeenMovePath } from '../contract/shapes.generated.ts';

/** Both lists as one, most frequent first: the same event or path of another block is the same entry. */
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
