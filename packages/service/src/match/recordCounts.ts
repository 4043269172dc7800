/** Counts the records of each kind in a match, for the ledger (`NewMatch.records`). */

/**
 * Maximum number of kinds per match, not counting `other`. A stream that matches everything has
 * hundreds of kinds per block, and the metrics store a row per kind and minute.
 */
const MAX_KINDS = 20;

/**
 * Returns the number of records of each kind. If there are more than {@link MAX_KINDS} kinds, the
 * least frequent ones are counted together as `other`.
 */
export function countKinds(kinds: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  if (counts.size <= MAX_KINDS) return Object.fromEntries(counts);
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
  const others = sorted.slice(MAX_KINDS).reduce((sum, [, n]) => sum + n, 0);
  return { ...Object.fromEntries(sorted.slice(0, MAX_KINDS)), other: others };
}
