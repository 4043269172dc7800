/** The newest known values of streams on a chain, which each block that is read changes. */
import type { BlockHeader } from '../../store/blocks/contract.ts';
import type { KnownRead, StateReading, ValueRun } from '../../store/values/contract.ts';

export interface KnownReads {
  find(streamId: string, key: string): KnownRead | undefined;
  /** Returns the keys of the known values of a stream. */
  keysOf(streamId: string): Iterable<string>;
  /** Returns all known values. */
  all(): Iterable<KnownRead>;
  /** Adds the results of a block, as the ledger does. */
  add(
    block: Pick<BlockHeader, 'number' | 'timestamp'>,
    read: Pick<StateReading, 'results' | 'lasting' | 'ended' | 'forgotten'>,
  ): void;
}

export function createKnownReads(known: Iterable<KnownRead> = []): KnownReads {
  const streams = new Map<string, Map<string, KnownRead>>();
  const keep = (read: KnownRead): void => {
    const its = streams.get(read.streamId) ?? new Map<string, KnownRead>();
    const { newest, last } = read;
    // The same run, so that both change when it is extended.
    const known = { ...read, last: last?.from === newest.from ? newest : last };
    streams.set(read.streamId, its.set(read.key, known));
  };
  for (const read of known) keep(read);
  return {
    find: (streamId, key) => streams.get(streamId)?.get(key),
    keysOf: (streamId) => streams.get(streamId)?.keys() ?? [],
    *all() {
      for (const its of streams.values()) yield* its.values();
    },
    add({ number, timestamp }, { results, lasting, ended, forgotten }) {
      for (const { streamId, key } of ended) {
        const its = streams.get(streamId)?.get(key);
        if (its !== undefined) its.newest.lasts = false;
      }
      for (const { streamId, key, value, error, continues, lasts } of results) {
        const before = streams.get(streamId)?.get(key);
        const from = continues?.from ?? number;
        const newest: ValueRun = { from, to: number, timestamp, value, error, lasts };
        keep({ streamId, key, newest, last: error === null ? newest : before?.last });
      }
      for (const id of lasting) {
        // Runs are changed in place, because a stream may have a thousand of them in each block.
        for (const { newest } of streams.get(id)?.values() ?? []) {
          if (newest.lasts) newest.to = number;
        }
      }
      for (const { streamId, key } of forgotten) streams.get(streamId)?.delete(key);
    },
  };
}
