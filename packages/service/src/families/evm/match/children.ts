/** Finds the addresses that the factories of streams create in a block. */
import type { FoundChild } from '../../../match/children.ts';
import type { IndexedStream } from '../../../match/ruleIndex.ts';
import type { SearchedLog } from '../../../match/logSearch.ts';
import type { EvmBlock } from './block.ts';
import type { Factory } from './factories.ts';
import type { EvmStreams } from './match.ts';
import type { Rules } from './rules.ts';
import { topicsOf } from './transfers.ts';
import { addressIn, hasAddress } from './triggeredBy.ts';

/** A block, or only some of its logs. */
export interface LoggedBlock {
  readonly number: number;
  readonly logs: readonly SearchedLog[];
}

type Stream = IndexedStream<'evm', Rules>;
type Child = Omit<FoundChild<'evm', Rules>, 'blockNumber'>;

/** The factories of a chain by generation, then by event. */
type Generations = readonly ReadonlyMap<string, readonly { stream: Stream; factory: Factory }[]>[];

/** Cache by list of streams, which the index replaces when one of them changes. */
const cache = new WeakMap<readonly Stream[], Generations>();

function generationsOf(streams: readonly Stream[]): Generations {
  const known = cache.get(streams);
  if (known !== undefined) return known;
  const all = streams.flatMap((stream) =>
    stream.selection.factories.map((factory) => ({ stream, factory })),
  );
  const most = Math.max(0, ...all.map(({ factory }) => factory.generation));
  const generations = Array.from({ length: most }, (_, n) =>
    Map.groupBy(
      all.filter(({ factory }) => factory.generation === n + 1),
      ({ factory }) => factory.topic0,
    ),
  );
  cache.set(streams, generations);
  return generations;
}

export const hasFactories = (streams: EvmStreams, chain: string): boolean =>
  generationsOf(streams.streams(chain)).length > 0;

/**
 * Returns the children that the block adds. A generation is complete before its children are
 * searched, because a contract may create others before the log with its own address.
 *
 * @param isKnown whether the address is a child of this factory already
 */
export function findChildren(
  streams: EvmStreams,
  chain: string,
  { number: blockNumber, logs }: LoggedBlock,
  isKnown: (child: Child) => boolean,
): FoundChild<'evm', Rules>[] {
  const found: FoundChild<'evm', Rules>[] = [];
  const keys = new Set<string>();
  const keyOf = ({ stream, factory, address }: Child): string =>
    `${stream.record.id} ${factory} ${address}`;

  const isCreator = (stream: Stream, { address, parent }: Factory, log: SearchedLog): boolean => {
    if (parent === undefined) return log.address === address;
    const creator = { stream, factory: parent.key, address: log.address };
    return keys.has(keyOf(creator)) || isKnown(creator);
  };

  for (const generation of generationsOf(streams.streams(chain))) {
    for (const log of logs) {
      for (const { stream, factory } of generation.get(log.topics[0] ?? '') ?? []) {
        if (!isCreator(stream, factory, log)) continue;
        for (const address of factory.childrenIn(log)) {
          const child = { stream, factory: factory.key, address };
          if (keys.has(keyOf(child)) || isKnown(child)) continue;
          keys.add(keyOf(child));
          found.push({ ...child, blockNumber });
        }
      }
    }
  }
  return found;
}

/** Returns the addresses of a block that the matcher looks up, in lowercase. */
export function addressesOf(
  chain: string,
  { logs, transactions, internalTransactions, calls = [] }: EvmBlock,
): string[] {
  const addresses = new Set<string>();
  for (const log of logs) {
    addresses.add(log.address);
    for (const topic of topicsOf(chain, log)) {
      if (!hasAddress(topic)) continue;
      addresses.add(addressIn(topic));
    }
  }
  for (const { from, to } of [transactions, internalTransactions, calls].flat()) {
    addresses.add(from);
    if (to !== null) addresses.add(to);
  }
  return [...addresses];
}
