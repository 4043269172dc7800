/** Counts the functions and events of a stream's addresses in a block, whether selected or not. */
import { type ObservedMovePath, shortenMovePath } from '@sluice/kit/contract';
import type { AptosBlock, AptosTransaction } from './block.ts';
import { type AptosStreams, type CompiledAptosStream, withoutArguments } from './streamIndex.ts';
import { matchAptosBlock } from './match.ts';
import { mostFrequent } from '../../../match/observed.ts';

interface Tally extends ObservedMovePath {
  isNamed: boolean;
}

/**
 * Counts the functions and events in the transactions of the index's only stream, most frequent
 * first: all selected ones, and at most 20 others of each kind. The count of an event type without
 * type arguments includes all its variants; a variant is listed separately only if it is selected.
 */
export function countObservedPaths(
  index: AptosStreams,
  chain: string,
  block: AptosBlock,
): ObservedMovePath[] {
  const concerned = new Map<AptosTransaction, CompiledAptosStream>();
  matchAptosBlock(index, chain, block, (stream, transaction) => {
    concerned.set(transaction, stream);
    return undefined;
  });

  const tallies = { function: new Map<string, Tally>(), event: new Map<string, Tally>() };
  const add = (kind: ObservedMovePath['kind'], path: string, isNamed: boolean): void => {
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
    .flatMap((each) => mostFrequent([...each.values()], ({ isNamed }) => isNamed))
    .toSorted((a, b) => b.count - a.count)
    .map(({ kind, path, count }) => ({ kind, path: shortenMovePath(path), count }));
}
