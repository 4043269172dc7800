/**
 * Loads the rules of a chain family into indexes, and updates them to the ledger. Each address list
 * is loaded once, whether blocks, backfills or dry runs need it.
 */
import type { ChainFamily } from '@sluice/kit/contract';
import type { StreamOfFamily } from '../store/streams/contract.ts';
import { type RuleIndex, type RuleReads, type SingleStream, refreshRules } from './ruleIndex.ts';

/**
 * Brings an index up to date with the ledger, and returns its revision.
 *
 * @param atLeast the lowest revision that suffices, or `now` for all changes before the call.
 *   Default: 0
 */
export type RefreshRules = (atLeast?: number | 'now') => Promise<number>;

/** Returns a function that updates the index. Must be the only one for this index. */
export function followRules<Name extends ChainFamily, Rules>(
  index: RuleIndex<Name, Rules>,
  reads: RuleReads,
): RefreshRules {
  let refreshing: Promise<number> | undefined;
  let sweeping = false;
  /**
   * Frees the addresses of removed streams in small steps, so that other work can run in between.
   */
  const sweep = (): void => {
    sweeping = index.sweep();
    if (sweeping) setImmediate(sweep);
  };
  const refresh = async (): Promise<number> => {
    try {
      await refreshRules(index, reads);
      if (!sweeping) sweep();
      return index.revision;
    } finally {
      refreshing = undefined;
    }
  };
  // Callers share a running refresh, unless it started before the revision that they need.
  return async (atLeast = 0) => {
    if (atLeast === 'now') {
      await refreshing?.catch(() => {});
      return (refreshing ??= refresh());
    }
    const revision = await (refreshing ??= refresh());
    return revision >= atLeast ? revision : (refreshing ??= refresh());
  };
}

/** Maximum size of the address lists that are kept for streams that are not matched. */
const MAX_KEPT_BYTES = 64 * 1024 ** 2;
/** Approximate size of an index without addresses. */
const EMPTY_BYTES = 32 * 1024;

/**
 * Returns a function that finds a stream with its current addresses, and gives it the rules of the
 * record. Loads only the addresses of streams that `index` does not have, such as paused ones, and
 * keeps the ones that were used last.
 */
export function createStreamFinder<Name extends ChainFamily, Rules>({
  index,
  refresh,
  store,
  createIndex,
  maxKeptBytes = MAX_KEPT_BYTES,
}: {
  index: RuleIndex<Name, Rules>;
  refresh: RefreshRules;
  store: RuleReads;
  createIndex(): RuleIndex<Name, Rules>;
  maxKeptBytes?: number | undefined;
}): (record: StreamOfFamily<Name>) => Promise<SingleStream<Name, Rules>> {
  /** The least recently used one first. */
  const kept = new Map<string, { own: RuleIndex<Name, Rules>; refreshOwn: RefreshRules }>();

  const forgetUnused = (): void => {
    const sizeOf = ({ addresses }: RuleIndex<Name, Rules>) => addresses.sizeBytes + EMPTY_BYTES;
    let bytes = [...kept.values()].reduce((sum, { own }) => sum + sizeOf(own), 0);
    for (const [id, { own }] of kept) {
      // The newest one is in use.
      if (bytes <= maxKeptBytes || kept.size === 1) return;
      bytes -= sizeOf(own);
      kept.delete(id);
    }
  };

  const open = (record: StreamOfFamily<Name>) => {
    const own = createIndex();
    return { own, refreshOwn: followRules(own, readsOf(record, store)) };
  };

  return async (record) => {
    await refresh('now');
    const live = index.only(record);
    if (live !== undefined) return live;
    const { id } = record;
    const each = kept.get(id) ?? open(record);
    kept.delete(id);
    kept.set(id, each);
    await each.refreshOwn('now');
    forgetUnused();
    return each.own.only(record)!;
  };
}

/** Returns reads of the ledger as if it had only this stream, whatever its status. */
const readsOf = <Name extends ChainFamily>(
  record: StreamOfFamily<Name>,
  store: RuleReads,
): RuleReads => ({
  readAddresses: (...args) => store.readAddresses(...args),
  readAddressChanges: (...args) => store.readAddressChanges(...args),
  async readRules(after) {
    const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER, record.family);
    return { revision, whole: after < 0, changed: [record] as never[], gone: [] };
  },
});
