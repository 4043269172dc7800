/** Counts the records of each kind in a match, for the ledger (`NewMatch.records`). */
import { cutText, shortenMovePath } from '@sluice/kit/contract';
import type { AptosMatch } from './aptos/match.ts';
import type { Match } from './evm/match.ts';

/**
 * Maximum number of kinds per match, not counting `other`. A stream that matches everything has
 * hundreds of kinds per block, and the metrics store a row per kind and minute.
 */
const MAX_KINDS = 20;
/**
 * Maximum length of a kind, in characters. Aptos types include their type arguments, which may be
 * nested deeply.
 */
const MAX_KIND_LENGTH = 200;

export const countEvmRecords = ({ logs, transactions, internalTransactions }: Match) =>
  countKinds([
    ...logs.map(({ topics }) => topics[0] ?? 'anonymous'),
    ...transactions.map(() => 'transaction'),
    ...internalTransactions.map(() => 'internalTransaction'),
  ]);

/**
 * Counts transactions by the function that they call, and, if the stream includes events, events by
 * type.
 */
export const countAptosRecords = ({ stream, transactions }: AptosMatch) =>
  countKinds(
    transactions
      .flatMap(({ transaction: { function: called, events }, isContinued }) => [
        ...(isContinued ? [] : [called ?? 'transaction']),
        ...(stream.record.options.includeEvents ? events.map(({ type }) => type) : []),
      ])
      .map((kind) => cutText(shortenMovePath(kind), MAX_KIND_LENGTH)),
  );

/**
 * Returns the number of records of each kind. If there are more than {@link MAX_KINDS} kinds, the
 * least frequent ones are counted together as `other`.
 */
function countKinds(kinds: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  if (counts.size <= MAX_KINDS) return Object.fromEntries(counts);
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
  const others = sorted.slice(MAX_KINDS).reduce((sum, [, n]) => sum + n, 0);
  return { ...Object.fromEntries(sorted.slice(0, MAX_KINDS)), other: others };
}
