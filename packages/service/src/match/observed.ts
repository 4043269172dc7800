/**
 * Maximum number of listed entries that no stream selects. A stream of all addresses may observe
 * hundreds of them per block.
 */
const MAX_OTHERS = 20;

/**
 * Returns the entries, most frequent first: all selected ones, and at most {@link MAX_OTHERS}
 * others.
 */
export function mostFrequent<T extends { count: number }>(
  entries: readonly T[],
  isNamed: (entry: T) => boolean,
): T[] {
  const sorted = entries.toSorted((a, b) => b.count - a.count);
  const others = new Set(sorted.filter((entry) => !isNamed(entry)).slice(0, MAX_OTHERS));
  return sorted.filter((entry) => isNamed(entry) || others.has(entry));
}
