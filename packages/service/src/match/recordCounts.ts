/** How many records of each kind a match has, for the ledger's counts (`NewMatch.records`). Pure. */
import { cutText, shortenMovePath } from '@sluice/kit/contract';
import type { AptosMatch } from './aptos/match.ts';
import type { Match } from './evm/match.ts';

/** Who watches everything has hundreds of kinds in each block, each a row in each minute. */
const MOST_KINDS = 20;
/** Types of Aptos name what they are made of, as deep as their author likes. */
const LONGEST_KIND = 200;

export const countEvmRecords = ({ logs, transactions, internalTransactions }: Match) =>
  countKinds([
    ...logs.map(({ topics }) => topics[0] ?? 'anonymous'),
    ...transactions.map(() => 'transaction'),
    ...internalTransactions.map(() => 'internalTransaction'),
  ]);

/** Transactions by what they call, and events where the stream gets them. */
export const countAptosRecords = ({ stream, transactions }: AptosMatch) =>
  countKinds(
    transactions
      .flatMap(({ transaction: { function: called, events }, isContinued }) => [
        ...(isContinued ? [] : [called ?? 'transaction']),
        ...(stream.record.options.includeEvents ? events.map(({ type }) => type) : []),
      ])
      .map((kind) => cutText(shortenMovePath(kind), LONGEST_KIND)),
  );

/** The most frequent kinds; the others together are `other`. */
function countKinds(kinds: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  if (counts.size <= MOST_KINDS) return Object.fromEntries(counts);
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
  const others = sorted.slice(MOST_KINDS).reduce((sum, [, n]) => sum + n, 0);
  return { ...Object.fromEntries(sorted.slice(0, MOST_KINDS)), other: others };
}
