/** Adds children of factories to the addresses that streams watch. */
import type { ChainFamily } from '@sluice/kit/contract';
import type { IndexedStream, WatchingStreams } from './ruleIndex.ts';

/** An address that a factory of a stream created. */
export interface FoundChild<Name extends ChainFamily, Rules> {
  stream: IndexedStream<Name, Rules>;
  /** Key of the factory. */
  factory: string;
  /** Lowercase. */
  address: string;
  /** The first block with a log of the factory that has the address. */
  blockNumber: number;
}

/**
 * Returns the streams as if they also watched these children, which must be of the chain that is
 * matched.
 */
export function withChildren<Name extends ChainFamily, Rules>(
  streams: WatchingStreams<Name, Rules>,
  children: readonly FoundChild<Name, Rules>[],
): WatchingStreams<Name, Rules> {
  if (children.length === 0) return streams;
  const byDigits = new Map<string, Map<IndexedStream<Name, Rules>, FoundChild<Name, Rules>>>();
  for (const child of children) {
    const digits = child.address.slice(2);
    byDigits.set(digits, (byDigits.get(digits) ?? new Map()).set(child.stream, child));
  }
  return {
    watching(chain, text, at, visit) {
      const more = byDigits.get(text.slice(at));
      if (more === undefined) return streams.watching(chain, text, at, visit);
      const rest = new Map(more);
      streams.watching(chain, text, at, (stream, origin) => {
        rest.delete(stream);
        visit(stream, origin);
      });
      for (const [stream, { factory, blockNumber }] of rest)
        visit(stream, { factory, blockNumber });
    },
    streams: (chain) => streams.streams(chain),
    unscoped: (chain) => streams.unscoped(chain),
    matching: (chain) => streams.matching(chain),
  };
}
