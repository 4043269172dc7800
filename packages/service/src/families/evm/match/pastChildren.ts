/** Finds the children of factories in past blocks, by their logs. */
import type { LogFilter, LogSearch } from '../../../match/logSearch.ts';
import type { FoundChild } from '../../../match/children.ts';
import type { KnownChild } from '../../../store/children/contract.ts';
import { type LoggedBlock, findChildren } from './children.ts';
import { ADDRESSES_PER_FILTER } from './logSearch.ts';
import type { EvmStreams } from './match.ts';
import type { Rules } from './rules.ts';

/**
 * Returns how to find the logs of the factories of the streams. Children that are factories
 * themselves are found by their events alone, because there may be millions of them.
 *
 * @param newSince first block of factories without `from`; undefined to omit them
 */
export function planFactorySearch(
  streams: EvmStreams,
  chain: string,
  newSince: number | undefined,
): LogSearch | undefined {
  const all = streams
    .streams(chain)
    .flatMap(({ selection }) => selection.factories)
    .filter(({ from = newSince }) => from !== undefined);
  if (all.length === 0) return undefined;
  const roots = all.filter(({ address }) => address !== undefined);
  const addresses = [...new Set(roots.map(({ address }) => address!))];
  const events = (some: typeof all): string[] => [...new Set(some.map(({ topic0 }) => topic0))];
  const late = events(all.filter(({ address }) => address === undefined));
  const filters: LogFilter[] = late.length === 0 ? [] : [{ topics: [late] }];
  for (let n = 0; n < addresses.length; n += ADDRESSES_PER_FILTER) {
    const address = addresses.slice(n, n + ADDRESSES_PER_FILTER);
    filters.push({ address, topics: [events(roots)] });
  }
  const wanted = new Set(events(all));
  return {
    keepsLogs: true,
    plans: filters.length === 1 ? [filters] : [filters, [{ topics: [[...wanted]] }]],
    takes: ({ logs }) => logs.some(({ topics: [topic0 = ''] }) => wanted.has(topic0)),
  };
}

/**
 * Returns the children of past blocks that the stream wants, in order, each once. For `newSince`, see
 * {@link planFactorySearch}.
 */
export async function findPastChildren(
  streams: EvmStreams,
  chain: string,
  blocks: readonly LoggedBlock[],
  {
    newSince = Infinity,
    readKnown,
  }: {
    newSince?: number | undefined;
    readKnown(addresses: readonly string[], upTo: number): Promise<KnownChild[]>;
  },
): Promise<FoundChild<'evm', Rules>[]> {
  const last = blocks.at(-1);
  if (last === undefined) return [];
  const keyOf = (factory: string, address: string): string => `${factory} ${address}`;
  /** The first block of each child that may be a factory itself. */
  const since = new Map<string, number>();
  const factories = streams.streams(chain).flatMap(({ selection }) => selection.factories);
  const firstOf = new Map(factories.map(({ key, from = newSince }) => [key, from]));
  if (factories.some(({ parent }) => parent !== undefined)) {
    const emitters = new Set(blocks.flatMap(({ logs }) => logs.map(({ address }) => address)));
    for (const { factory, address, blockNumber } of await readKnown([...emitters], last.number)) {
      since.set(keyOf(factory, address), blockNumber);
    }
  }
  return blocks.flatMap((block) => {
    const found = findChildren(
      streams,
      chain,
      block,
      ({ factory, address }) => (since.get(keyOf(factory, address)) ?? Infinity) <= block.number,
    );
    const added = found.filter(({ factory }) => firstOf.get(factory)! <= block.number);
    for (const { factory, address } of added) since.set(keyOf(factory, address), block.number);
    return added;
  });
}
