/** Which functions and events the transactions of a stream's addresses had, whatever it takes of them. Pure. */
import { type SeenMovePath, shortenMovePath } from '@sluice/kit/contract';
import type { AptosBlock, AptosTransaction } from './block.ts';
import { type AptosIndex, type CompiledAptosStream, withoutArguments } from './streamIndex.ts';
import { matchAptosBlock } from './match.ts';
import { mostSeen } from '../seen.ts';

interface Tally extends SeenMovePath {
  isNamed: boolean;
}

/**
 * Of all streams of the index together, most frequent first: all functions and events that they name, and
 * of each kind at most 20 that they do not. Each is counted as often as a stream that names it alone would
 * get it: a type without generic arguments is there of all of its kind, and one with them where it is named
 * so.
 */
export function countSeenPaths(
  index: AptosIndex,
  chain: string,
  block: AptosBlock,
): SeenMovePath[] {
  const concerned = new Map<AptosTransaction, CompiledAptosStream>();
  matchAptosBlock(index, chain, block, (stream, transaction) => {
    concerned.set(transaction, stream);
    // Why it is taken or not is not asked.
    return undefined;
  });

  const tallies = { function: new Map<string, Tally>(), event: new Map<string, Tally>() };
  const add = (kind: SeenMovePath['kind'], path: string, isNamed: boolean): void => {
    const tally = tallies[kind].get(path);
    if (tally === undefined) tallies[kind].set(path, { kind, path, count: 1, isNamed });
    else tally.count++;
  };
  for (const [transaction, { selection }] of concerned) {
    const { function: called, events } = transaction;
    if (called !== null) add('function', called, selection.functions.has(called));
    for (const { type } of events) {
      const all = withoutArguments(type);
      add('event', all, selection.events.has(all));
      if (type !== all && selection.events.has(type)) add('event', type, true);
    }
  }
  return Object.values(tallies)
    .flatMap((each) => mostSeen([...each.values()], ({ isNamed }) => isNamed))
    .toSorted((a, b) => b.count - a.count)
    .map(({ kind, path, count }) => ({ kind, path: shortenMovePath(path), count }));
}
