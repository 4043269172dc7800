/** Combines observed events and paths of several blocks of a dry run. */
import type { ObservedEvent, ObservedMovePath } from '../contract/shapes.generated.ts';

/** Merges two lists, most frequent first, with one entry for each event or path. */
export function mergeObserved<T extends ObservedEvent | ObservedMovePath>(
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

const keyOf = (observed: ObservedEvent | ObservedMovePath): string =>
  'path' in observed
    ? `${observed.kind} ${observed.path}`
    : `${observed.topic0} ${observed.indexed}`;
