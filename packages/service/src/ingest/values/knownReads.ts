/** The newest known values of streams on a chain, which each block that is read changes. */
import type { BlockHeader } from '../../store/blocks/contract.ts';
import type { KnownRead, ReadRef, ReadResult, ValueRun } from '../../store/values/contract.ts';

export interface KnownReads {
  find(streamId: string, key: string): KnownRead | undefined;
  /** Returns the keys of the known values of a stream. */
  keysOf(streamId: string): Iterable<string>;
  /** Returns all known values. */
  all(): Iterable<KnownRead>;
  /** Adds the results of a block, as the ledger does. */
  add(
    block: Pick<BlockHeader, 'number' | 'timestamp'>,
    results: readonly ReadResult[],
    forgotten?: readonly ReadRef[],
  ): void;
}

export function createKnownReads(known: Iterable<KnownRead> = []): KnownReads {
  const streams = new Map<string, Map<string, KnownRead>>();
  const keep = (read: KnownRead): void => {
    const its = streams.get(read.streamId) ?? new Map<string, KnownRead>();
    streams.set(read.streamId, its.set(read.key, read));
  };
  for (const read of known) keep(read);
  return {
    find: (streamId, key) => streams.get(streamId)?.get(key),
    keysOf: (streamId) => streams.get(streamId)?.keys() ?? [],
    *all() {
      for (const its of streams.values()) yield* its.values();
    },
    add({ number, timestamp }, results, forgotten = []) {
      for (const { streamId, key, value, error, continues } of results) {
        const before = streams.get(streamId)?.get(key);
        const newest: ValueRun = { from: continues ?? number, to: number, timestamp, value, error };
        keep({ streamId, key, newest, last: error === null ? newest : before?.last });
      }
      for (const { streamId, key } of forgotten) streams.get(streamId)?.delete(key);
    },
  };
}
