/** Combines the observed events and paths of dry runs of several blocks. */
import type { ObservedEvent, ObservedMovePath } from '../contract/shapes.generated.ts';

/** Merges two lists into one, with one entry for each event or path, most frequent first. */
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
