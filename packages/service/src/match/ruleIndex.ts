/**
 * Indexes the streams of one chain family by address, so that the cost of matching depends on the
 * block, not on the number of streams or addresses. All chains of the family share an index, so
 * that a stream of several chains stores its addresses once.
 */
import type { ChainFamily } from '@sluice/kit/contract';
import { RetryableError } from '../base/errors.ts';
import type { StreamOfFamily } from '../store/streams/contract.ts';
import { TABLES, createAddressIndex } from './addressIndex.ts';
import type { DeltaPosition } from '../store/addresses/contract.ts';
import type { Reads } from '../store/store.ts';

/** A stream with its compiled rules. */
export interface Indexed<Name extends ChainFamily, Rules> {
  readonly record: StreamOfFamily<Name>;
  readonly selection: Rules;
}

/** Streams that a block is matched against. */
export interface WatchingStreams<Name extends ChainFamily, Rules> {
  /**
   * Calls `visit` for each stream of the chain that watches the address at position `at` of `text`,
   * except streams of all addresses.
   */
  watching(
    chain: string,
    text: string,
    at: number,
    visit: (stream: Indexed<Name, Rules>) => void,
  ): void;
  /** Returns the streams of the chain. The array is the same until one of them changes. */
  streams(chain: string): readonly Indexed<Name, Rules>[];
  /** Returns the streams of the chain that watch all addresses. */
  unscoped(chain: string): readonly Indexed<Name, Rules>[];
  /** Returns the streams of the chain that watch at least one address, or all addresses. */
  matching(chain: string): readonly Indexed<Name, Rules>[];
}

/**
 * A stream of an index as if it were alone and watched every chain. Uses the addresses of the index
 * itself, so later changes to them apply. Throws a {@link RetryableError} with code `unavailable`
 * once the index has removed the stream or its addresses are loaded again.
 */
export interface SingleStream<Name extends ChainFamily, Rules> extends WatchingStreams<
  Name,
  Rules
> {
  readonly addressCount: number;
  /** Differs after each change to the addresses. */
  readonly addressVersion: number;
}

export interface RuleIndex<Name extends ChainFamily, Rules> extends WatchingStreams<Name, Rules> {
  readonly family: Name;
  /** Revision of the ledger's rules in this index; -1 if none have been loaded. */
  revision: number;
  /** Number of (address, stream) pairs, and the size of their index in bytes. */
  readonly addresses: { readonly size: number; readonly sizeBytes: number };
  has(id: string): boolean;
  /** Adds a stream, or updates a known one without changing its addresses. */
  put(record: StreamOfFamily<Name>): void;
  /** Removes a stream. Its addresses are freed later, by `sweep`. */
  delete(id: string): void;
  clear(): void;
  /** Announces how many additions follow, so that they require less resizing. */
  expectAddresses(count: number): void;
  /** Adds packed addresses to a stream; does nothing if the index does not have the stream. */
  addAddresses(id: string, addresses: Uint8Array): void;
  removeAddresses(id: string, addresses: Uint8Array): void;
  /** Frees some addresses of removed streams; returns false once there are none left to free. */
  sweep(): boolean;
  /**
   * Returns the stream with this id alone, with the rules of `record`; undefined if the index does
   * not have it.
   */
  only(record: StreamOfFamily<Name>): SingleStream<Name, Rules> | undefined;
}

interface Entry<Name extends ChainFamily, Rules> extends Indexed<Name, Rules> {
  readonly chains: ReadonlySet<string>;
  /** Number that identifies the stream in the address index. */
  readonly number: number;
  /** The stream's addresses, until it is removed from the index. */
  readonly addresses: { count: number; version: number };
}

/** Number of changes to addresses so far, in all indexes. */
let versions = 0;

export function createRuleIndex<Name extends ChainFamily, Rules>({
  family,
  addressBytes,
  compile,
}: {
  family: Name;
  addressBytes: 20 | 32;
  compile(record: StreamOfFamily<Name>): Rules;
}): RuleIndex<Name, Rules> {
  type Own = Entry<Name, Rules>;
  const streams = new Map<string, Own>();
  /** Streams by number; undefined if no current stream has the number. */
  const byNumber: (Own | undefined)[] = [];
  const freeNumbers: number[] = [];
  let addresses = createAddressIndex(addressBytes);
  /**
   * Numbers of removed streams that still have addresses. The current sweep frees `swept`, and the
   * next one frees `leaving`.
   */
  let leaving = new Set<number>();
  let swept = new Set<number>();
  let nextTable = 0;
  /** Caches by chain, cleared whenever a stream changes: all streams, and those of all addresses. */
  const byChain = new Map<string, readonly Own[]>();
  const unscoped = new Map<string, readonly Own[]>();
  const clearCaches = (): void => {
    byChain.clear();
    unscoped.clear();
  };

  const count = ({ addresses: held }: Own, added: number): void => {
    held.count += added;
    held.version = ++versions;
  };

  const cached = (
    cache: Map<string, readonly Own[]>,
    chain: string,
    find: () => readonly Own[],
  ): readonly Own[] => {
    const found = cache.get(chain) ?? find();
    cache.set(chain, found);
    return found;
  };

  const streamsOf = (chain: string): readonly Own[] =>
    cached(byChain, chain, () => [...streams.values()].filter((entry) => entry.chains.has(chain)));

  return {
    family,
    revision: -1,
    get addresses() {
      return addresses;
    },
    has: (id) => streams.has(id),
    put(record) {
      clearCaches();
      const known = streams.get(record.id);
      const entry = {
        record,
        selection: compile(record),
        chains: new Set(record.chainIds),
        number: known?.number ?? freeNumbers.pop() ?? byNumber.length,
        addresses: known?.addresses ?? { count: 0, version: ++versions },
      };
      streams.set(record.id, entry);
      byNumber[entry.number] = entry;
    },
    delete(id) {
      const entry = streams.get(id);
      if (entry === undefined) return;
      clearCaches();
      streams.delete(id);
      byNumber[entry.number] = undefined;
      if (entry.addresses.count > 0) leaving.add(entry.number);
      else freeNumbers.push(entry.number);
    },
    clear() {
      clearCaches();
      streams.clear();
      byNumber.length = 0;
      freeNumbers.length = 0;
      leaving.clear();
      swept.clear();
      addresses = createAddressIndex(addressBytes);
    },
    expectAddresses: (count) => addresses.expect(count),
    addAddresses(id, packed) {
      const entry = streams.get(id);
      if (entry !== undefined) count(entry, addresses.add(packed, entry.number));
    },
    removeAddresses(id, packed) {
      const entry = streams.get(id);
      if (entry !== undefined) count(entry, -addresses.remove(packed, entry.number));
    },
    sweep() {
      if (nextTable === 0) {
        freeNumbers.push(...swept);
        swept = leaving;
        leaving = new Set();
        if (swept.size === 0) return false;
      }
      addresses.sweep(nextTable, (number) => swept.has(number));
      nextTable = (nextTable + 1) % TABLES;
      return true;
    },
    watching(chain, text, at, visit) {
      addresses.visit(text, at, (number) => {
        const entry = byNumber[number];
        if (entry?.chains.has(chain) && !entry.record.options.allAddresses) visit(entry);
      });
    },
    streams: streamsOf,
    unscoped: (chain) =>
      cached(unscoped, chain, () =>
        streamsOf(chain).filter(({ record }) => record.options.allAddresses),
      ),
    matching: (chain) =>
      streamsOf(chain).filter(
        ({ record, addresses }) => addresses.count > 0 || record.options.allAddresses,
      ),
    only(record) {
      const { id, options } = record;
      const held = streams.get(id)?.addresses;
      if (held === undefined) return undefined;
      const own = { record, selection: compile(record) };
      const alone = [own];
      const entryOf = (): Own => {
        const entry = streams.get(id);
        if (entry?.addresses === held) return entry;
        throw new RetryableError('unavailable', `the addresses of stream ${id} are being reloaded`);
      };
      return {
        get addressCount() {
          return held.count;
        },
        get addressVersion() {
          return held.version;
        },
        watching(_, text, at, visit) {
          const { number } = entryOf();
          if (options.allAddresses) return;
          addresses.visit(text, at, (each) => {
            if (each === number) visit(own);
          });
        },
        streams: () => alone,
        unscoped: () => (entryOf() && options.allAddresses ? alone : []),
        matching: () => (entryOf() && (options.allAddresses || held.count > 0) ? alone : []),
      };
    },
  };
}

export type RuleReads = Pick<Reads, 'readRules' | 'readAddresses' | 'readAddressChanges'>;

type AnyIndex = Pick<
  RuleIndex<ChainFamily, unknown>,
  'revision' | 'expectAddresses' | 'addAddresses' | 'removeAddresses' | 'delete'
>;

/**
 * Number of streams that are loaded at the same time, so that the addresses of one are read while
 * those of another are added.
 */
const LOADING_STREAMS = 2;

/**
 * Updates the index to the ledger's rules. Reads addresses page by page, so that long lists block
 * neither the reader nor the ledger. Must not be called again for the same index before the
 * returned promise settles.
 */
export async function refreshRules<Name extends ChainFamily, Rules>(
  index: RuleIndex<Name, Rules>,
  reads: RuleReads,
): Promise<void> {
  const rules = await reads.readRules(index.revision, index.family);
  if (rules.revision === index.revision) return;
  if (rules.whole) index.clear();
  for (const id of rules.gone) index.delete(id);
  const added = rules.changed.filter(({ id }) => !index.has(id));
  for (const record of rules.changed) index.put(record);
  await loadStreams(index, reads, added);
  if (!rules.whole && !(await applyChanges(index, reads, rules.revision))) {
    index.revision = -1;
    return refreshRules(index, reads);
  }
  index.revision = rules.revision;
}

/** Loads the addresses of new streams; removes all these streams if one fails to load. */
async function loadStreams(
  index: AnyIndex,
  reads: RuleReads,
  added: readonly { id: string; addressCount: number }[],
): Promise<void> {
  index.expectAddresses(added.reduce((sum, { addressCount }) => sum + addressCount, 0));
  const queue = added.values();
  const loadNext = async (): Promise<void> => {
    for (const { id } of queue) await loadAddresses(index, reads, id);
  };
  const loads = await Promise.allSettled(Array.from({ length: LOADING_STREAMS }, loadNext));
  index.expectAddresses(0);
  const failed = loads.find((load) => load.status === 'rejected');
  if (failed === undefined) return;
  for (const { id } of added) index.delete(id);
  throw failed.reason;
}

/**
 * Loads every address of a stream. If its list changes meanwhile, the result may mix old and new
 * states until the changes are applied; no block is committed before that.
 */
async function loadAddresses(
  index: Pick<AnyIndex, 'addAddresses'>,
  reads: Pick<Reads, 'readAddresses'>,
  id: string,
): Promise<void> {
  type Page = ReturnType<Reads['readAddresses']>;
  for (let coming: Page | undefined = reads.readAddresses(id); coming !== undefined;) {
    const { addresses, next }: Awaited<Page> = await coming;
    // Requests the next page from the ledger while the current page is added.
    coming = next === undefined ? undefined : reads.readAddresses(id, next);
    index.addAddresses(id, addresses.bytes);
  }
}

/**
 * Applies the changes to address lists up to a revision; returns false if some are no longer
 * stored.
 */
async function applyChanges(index: AnyIndex, reads: RuleReads, upTo: number): Promise<boolean> {
  let after: DeltaPosition | undefined = {
    revision: index.revision,
    change: Number.MAX_SAFE_INTEGER,
    part: Number.MAX_SAFE_INTEGER,
  };
  do {
    const page = await reads.readAddressChanges(after, upTo);
    if (page === undefined) return false;
    for (const { streamId, kind, addresses } of page.changes) {
      if (kind === 'add') index.addAddresses(streamId, addresses.bytes);
      else index.removeAddresses(streamId, addresses.bytes);
      // Lets other work run, because a long list has many parts.
      await new Promise(setImmediate);
    }
    after = page.next;
  } while (after !== undefined);
  return true;
}
