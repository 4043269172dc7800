/**
 * Indexes the streams of one chain family by address, so that the cost of matching depends on the
 * block, not on the number of streams or addresses. All chains of the family share an index, so
 * that a stream of several chains stores its addresses once.
 */
import type { ChainFamily } from '@sluice/kit/contract';
import { RetryableError } from '../base/errors.ts';
import { STREAM_FAMILIES, type StreamOfFamily } from '../store/streams/contract.ts';
import { type AddressList, createAddressLists } from './addressLists.ts';
import type { ChildListRef } from '../store/children/contract.ts';
import type { DeltaPosition } from '../store/addresses/contract.ts';
import type { Reads } from '../store/store.ts';

/** A stream with its compiled rules. */
export interface IndexedStream<Name extends ChainFamily, Rules> {
  readonly record: StreamOfFamily<Name>;
  readonly selection: Rules;
}

/** The factory that created a watched address, and the block since which it is watched. */
export interface ChildOrigin {
  readonly factory: string;
  /** Known only if the child was read from the ledger or found in the block. */
  readonly blockNumber?: number;
}

/** Streams that a block is matched against. */
export interface WatchingStreams<Name extends ChainFamily, Rules> {
  /**
   * Calls `visit` for each stream of the chain that watches the address at position `at` of `text`,
   * except streams of all addresses. Children of factories that the stream does not also list have
   * an origin.
   */
  watching(
    chain: string,
    text: string,
    at: number,
    visit: (stream: IndexedStream<Name, Rules>, origin?: ChildOrigin) => void,
  ): void;
  /** Returns the streams of the chain. The array is the same until one of them changes. */
  streams(chain: string): readonly IndexedStream<Name, Rules>[];
  /** Returns the streams of the chain that watch all addresses. */
  unscoped(chain: string): readonly IndexedStream<Name, Rules>[];
  /** Returns the streams of the chain that watch at least one address or factory, or all addresses. */
  matching(chain: string): readonly IndexedStream<Name, Rules>[];
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
  /** The streams with the children of their factories, as far as they are loaded. */
  readonly following: WatchingStreams<Name, Rules>;
  /** Calls `visit` for each stream and factory of the chain with this address as a child. */
  visitChildren(
    chain: string,
    text: string,
    at: number,
    visit: (stream: IndexedStream<Name, Rules>, factory: string) => void,
  ): void;
  /** Returns a factory of the chain whose children are not loaded; undefined if there is none. */
  missingChildren(chain: string): ChildListRef | undefined;
  /**
   * Starts to load the children of a factory. `add` returns false if the factory was removed
   * meanwhile; `finish` is called after the last addition.
   */
  openChildren(list: ChildListRef): { add(addresses: Uint8Array): boolean; finish(): void };
  /** Adds packed children of a factory; does nothing unless they are loaded or being loaded. */
  addChildren(list: ChildListRef, addresses: Uint8Array): void;
  /** Removes packed children of a factory; does nothing unless its children are loaded. */
  removeChildren(list: ChildListRef, addresses: Uint8Array): void;
  /** Forgets the children of a chain, so that they are loaded again. */
  forgetChildren(chain: string): void;
  /**
   * Returns the stream with this id alone, with the rules of `record`; undefined if the index does
   * not have it.
   */
  only(record: StreamOfFamily<Name>): SingleStream<Name, Rules> | undefined;
}

interface Entry<Name extends ChainFamily, Rules> extends IndexedStream<Name, Rules> {
  readonly chains: ReadonlySet<string>;
  /** Keys of the stream's factories. */
  readonly factories: ReadonlySet<string>;
  /** The stream's addresses, until it is removed from the index. */
  readonly addresses: AddressList<ListOwner<Name, Rules>>;
  /** Differs after each change to the addresses. */
  readonly changes: { version: number };
  /** The children of its factories, by chain and factory. */
  readonly children: Map<string, ChildList<Name, Rules>>;
}

/** The stream of a list, and the factory if the list has its children on a chain. */
interface ListOwner<Name extends ChainFamily, Rules> {
  entry: Entry<Name, Rules>;
  readonly child?: { readonly chain: string; readonly factory: string };
}

interface ChildList<Name extends ChainFamily, Rules> {
  readonly list: AddressList<ListOwner<Name, Rules>>;
  isLoaded: boolean;
}

/** Number of changes to addresses so far, in all indexes. */
let versions = 0;

const keyOf = (chain: string, factory: string): string => `${chain} ${factory}`;

/** Returns the origin that counts: none for an address that the stream lists, or else the first factory. */
function earlierOrigin(
  { factories }: Pick<Entry<ChainFamily, unknown>, 'factories'>,
  a: ChildOrigin | undefined,
  b: ChildOrigin | undefined,
): ChildOrigin | undefined {
  if (a === undefined || b === undefined) return undefined;
  for (const key of factories) {
    if (key === a.factory) return a;
    if (key === b.factory) return b;
  }
  return a;
}

export function createRuleIndex<Name extends ChainFamily, Rules>({
  family,
  compile,
  factoriesOf = () => [],
}: {
  family: Name;
  compile(record: StreamOfFamily<Name>): Rules;
  /** Returns the keys of the factories in a stream's rules. Default: none. */
  factoriesOf?(rules: Rules): readonly string[];
}): RuleIndex<Name, Rules> {
  type Own = Entry<Name, Rules>;
  const streams = new Map<string, Own>();
  const lists = createAddressLists<ListOwner<Name, Rules>>(STREAM_FAMILIES[family].addressBytes);
  /**
   * Caches by chain, cleared whenever a stream changes: all streams, those of all addresses, and
   * those with factories.
   */
  const byChain = new Map<string, readonly Own[]>();
  const unscoped = new Map<string, readonly Own[]>();
  const creating = new Map<string, readonly Own[]>();
  const clearCaches = (): void => {
    for (const cache of [byChain, unscoped, creating]) cache.clear();
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
  const unscopedOf = (chain: string): readonly Own[] =>
    cached(unscoped, chain, () =>
      streamsOf(chain).filter(({ record }) => record.options.allAddresses),
    );
  const creatingOf = (chain: string): readonly Own[] =>
    cached(creating, chain, () => streamsOf(chain).filter(({ factories }) => factories.size > 0));

  const canMatch = ({ record, addresses, factories }: Own): boolean =>
    addresses.count > 0 || factories.size > 0 || record.options.allAddresses;

  const closeChildren = (
    entry: Own,
    isClosed: (child: NonNullable<ListOwner<Name, Rules>['child']>) => boolean,
  ): void => {
    for (const [key, { list }] of entry.children) {
      if (!isClosed(list.owner.child!)) continue;
      entry.children.delete(key);
      lists.close(list);
    }
  };

  const childListOf = ({
    streamId,
    chain,
    factory,
  }: ChildListRef): ChildList<Name, Rules> | undefined =>
    streams.get(streamId)?.children.get(keyOf(chain, factory));

  const watches = ({ chains, record }: Own, chain: string): boolean =>
    chains.has(chain) && !record.options.allAddresses;

  const index: RuleIndex<Name, Rules> = {
    family,
    revision: -1,
    get addresses() {
      return lists;
    },
    has: (id) => streams.has(id),
    put(record) {
      clearCaches();
      const known = streams.get(record.id);
      const selection = compile(record);
      const entry: Own = {
        record,
        selection,
        chains: new Set(record.chainIds),
        factories: new Set(factoriesOf(selection)),
        addresses: known?.addresses ?? lists.open({ entry: known! }),
        changes: known?.changes ?? { version: ++versions },
        children: known?.children ?? new Map(),
      };
      streams.set(record.id, entry);
      entry.addresses.owner.entry = entry;
      closeChildren(
        entry,
        ({ chain, factory }) => !entry.chains.has(chain) || !entry.factories.has(factory),
      );
      for (const { list } of entry.children.values()) list.owner.entry = entry;
    },
    delete(id) {
      const entry = streams.get(id);
      if (entry === undefined) return;
      clearCaches();
      streams.delete(id);
      lists.close(entry.addresses);
      closeChildren(entry, () => true);
    },
    clear() {
      clearCaches();
      streams.clear();
      lists.clear();
    },
    expectAddresses: (count) => lists.expect(count),
    addAddresses(id, packed) {
      const entry = streams.get(id);
      if (entry === undefined) return;
      lists.add(entry.addresses, packed);
      entry.changes.version = ++versions;
    },
    removeAddresses(id, packed) {
      const entry = streams.get(id);
      if (entry === undefined) return;
      lists.remove(entry.addresses, packed);
      entry.changes.version = ++versions;
    },
    sweep: lists.sweep,
    watching(chain, text, at, visit) {
      const found = lists.find(text, at);
      if (found === 0) return;
      lists.visit(found, ({ owner: { entry, child } }) => {
        if (child === undefined && watches(entry, chain)) visit(entry);
      });
    },
    streams: streamsOf,
    unscoped: unscopedOf,
    matching: (chain) => streamsOf(chain).filter(canMatch),
    following: {
      watching(chain, text, at, visit) {
        const found = lists.find(text, at);
        if (found === 0) return;
        let first: Own | undefined;
        let origin: ChildOrigin | undefined;
        let others: Map<Own, ChildOrigin | undefined> | undefined;
        lists.visit(found, ({ owner: { entry, child } }) => {
          if (child === undefined ? !watches(entry, chain) : child.chain !== chain) return;
          if (entry.children.size === 0) return visit(entry);
          // A stream with factories may have the address in several lists.
          if (first === undefined) {
            first = entry;
            origin = child;
          } else if (first === entry) {
            origin = earlierOrigin(entry, origin, child);
          } else {
            others ??= new Map();
            const known = others.has(entry)
              ? earlierOrigin(entry, others.get(entry), child)
              : child;
            others.set(entry, known);
          }
        });
        if (first !== undefined) visit(first, origin);
        for (const [entry, its] of others ?? []) visit(entry, its);
      },
      streams: streamsOf,
      unscoped: unscopedOf,
      matching: (chain) => streamsOf(chain).filter(canMatch),
    },
    visitChildren(chain, text, at, visit) {
      lists.visit(lists.find(text, at), ({ owner: { entry, child } }) => {
        if (child?.chain === chain) visit(entry, child.factory);
      });
    },
    missingChildren(chain) {
      for (const { record, factories, children } of creatingOf(chain)) {
        for (const factory of factories) {
          if (children.get(keyOf(chain, factory))?.isLoaded === true) continue;
          return { streamId: record.id, chain, factory };
        }
      }
      return undefined;
    },
    openChildren({ streamId, chain, factory }) {
      const entry = streams.get(streamId)!;
      closeChildren(entry, (child) => child.chain === chain && child.factory === factory);
      const list = lists.open({ entry, child: { chain, factory } });
      const own = { list, isLoaded: false };
      entry.children.set(keyOf(chain, factory), own);
      return {
        add(packed) {
          if (!lists.isOpen(list)) return false;
          lists.add(list, packed);
          return true;
        },
        finish() {
          own.isLoaded = true;
        },
      };
    },
    addChildren(ref, packed) {
      const found = childListOf(ref);
      if (found !== undefined) lists.add(found.list, packed);
    },
    removeChildren(ref, packed) {
      const found = childListOf(ref);
      if (found?.isLoaded === true) lists.remove(found.list, packed);
    },
    forgetChildren(chain) {
      for (const entry of streams.values()) closeChildren(entry, (child) => child.chain === chain);
    },
    only(record) {
      const { id, options } = record;
      const held = streams.get(id);
      if (held === undefined) return undefined;
      const own = { record, selection: compile(record) };
      const alone = [own];
      const isCreating = factoriesOf(own.selection).length > 0;
      const { addresses, changes } = held;
      const check = (): void => {
        if (streams.get(id)?.addresses === addresses) return;
        throw new RetryableError('unavailable', `the addresses of stream ${id} are being reloaded`);
      };
      return {
        get addressCount() {
          return addresses.count;
        },
        get addressVersion() {
          return changes.version;
        },
        watching(_, text, at, visit) {
          check();
          if (options.allAddresses) return;
          lists.visit(lists.find(text, at), (list) => {
            if (list === addresses) visit(own);
          });
        },
        streams: () => alone,
        unscoped() {
          check();
          return options.allAddresses ? alone : [];
        },
        matching() {
          check();
          return options.allAddresses || isCreating || addresses.count > 0 ? alone : [];
        },
      };
    },
  };
  return index;
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

/** Loads the children of a chain's factories that the index does not have yet. */
export async function loadChildren(
  index: Pick<RuleIndex<ChainFamily, unknown>, 'missingChildren' | 'openChildren'>,
  reads: Pick<Reads, 'readChildren'>,
  chain: string,
): Promise<void> {
  let missing: ChildListRef | undefined;
  while ((missing = index.missingChildren(chain)) !== undefined) {
    const list = index.openChildren(missing);
    let isOpen = true;
    for (let after: string | undefined = ''; isOpen && after !== undefined;) {
      const page: Awaited<ReturnType<Reads['readChildren']>> = await reads.readChildren(
        missing,
        after,
      );
      isOpen = list.add(page.addresses.bytes);
      after = page.next;
    }
    if (isOpen) list.finish();
  }
}
