/**
 * The streams there are, arranged so that a block finds the ones it concerns by its own addresses and
 * topics: the cost follows the block, not the number of streams or of their addresses. One index
 * serves all chains, so that a stream of several chains keeps its addresses once.
 */
import type { StreamOptions, EvmStreamRecord } from '../store/store.ts';
import { TABLES, createAddressIndex } from './addressIndex.ts';
import type { BlockNeeds } from './block.ts';
import { FilterError } from './filter.ts';
import { type Selection, createSelection } from './selection.ts';

/** A stream with its rules compiled once. */
export interface CompiledStream {
  readonly record: EvmStreamRecord;
  readonly selection: Selection;
}

export interface StreamIndex {
  /** Revision of the rules this index stands at; -1 until it is set. */
  revision: number;
  /** (address, stream) entries, and the bytes they take. */
  readonly addresses: { readonly size: number; readonly sizeBytes: number };
  has(id: string): boolean;
  /** Puts a stream in, or changes what it selects; its addresses stay. */
  put(record: EvmStreamRecord): void;
  /** Takes a stream out at once; the room of its addresses is regained by `sweep`. */
  delete(id: string): void;
  clear(): void;
  /** Packed, 20 bytes each; of a stream that is not there none are taken. */
  addAddresses(id: string, addresses: Uint8Array): void;
  removeAddresses(id: string, addresses: Uint8Array): void;
  /** Regains a little of the room of streams that went; true while there is more to regain. */
  sweep(): boolean;
  needs(chain: string): BlockNeeds;
  /** Calls `visit` for each stream of the chain that watches the address, whose 40 hex digits stand at `at`. */
  watching(chain: string, text: string, at: number, visit: (stream: CompiledStream) => void): void;
  /** Streams of the chain that watch every address. */
  unscoped(chain: string): readonly CompiledStream[];
}

interface Entry extends CompiledStream {
  readonly chains: ReadonlySet<string>;
  /** What the address index calls the stream. */
  readonly number: number;
  addresses: number;
}

export function createStreamIndex(): StreamIndex {
  const streams = new Map<string, Entry>();
  /** By number; undefined for a number that is free, or whose stream went. */
  const byNumber: (Entry | undefined)[] = [];
  const freeNumbers: number[] = [];
  let addresses = createAddressIndex();
  /** Numbers of streams that went and left addresses: since the sweep under way began, and before. */
  let leaving = new Set<number>();
  let swept = new Set<number>();
  let nextTable = 0;
  /** Of each chain, until a stream changes. */
  const unscoped = new Map<string, readonly CompiledStream[]>();

  const streamsOf = (chain: string): Entry[] =>
    [...streams.values()].filter((entry) => entry.chains.has(chain));

  return {
    revision: -1,
    get addresses() {
      return addresses;
    },
    has: (id) => streams.has(id),
    put(record) {
      unscoped.clear();
      const known = streams.get(record.id);
      const entry = {
        record,
        selection: compile(record.options),
        chains: new Set(record.chainIds),
        number: known?.number ?? freeNumbers.pop() ?? byNumber.length,
        addresses: known?.addresses ?? 0,
      };
      streams.set(record.id, entry);
      byNumber[entry.number] = entry;
    },
    delete(id) {
      const entry = streams.get(id);
      if (entry === undefined) return;
      unscoped.clear();
      streams.delete(id);
      byNumber[entry.number] = undefined;
      if (entry.addresses > 0) leaving.add(entry.number);
      else freeNumbers.push(entry.number);
    },
    clear() {
      unscoped.clear();
      streams.clear();
      byNumber.length = 0;
      freeNumbers.length = 0;
      leaving.clear();
      swept.clear();
      addresses = createAddressIndex();
    },
    addAddresses(id, packed) {
      const entry = streams.get(id);
      if (entry !== undefined) entry.addresses += addresses.add(packed, entry.number);
    },
    removeAddresses(id, packed) {
      const entry = streams.get(id);
      if (entry !== undefined) entry.addresses -= addresses.remove(packed, entry.number);
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
    needs(chain) {
      const needs = { logs: false, transactions: false, traces: false };
      for (const { record, addresses } of streamsOf(chain)) {
        if (addresses === 0 && !record.options.allAddresses) continue;
        if (record.options.includeContractLogs || record.options.includeAllTxLogs)
          needs.logs = true;
        if (takesTransactions(record.options)) needs.transactions = true;
        if (record.options.includeInternalTxs) needs.traces = true;
      }
      return needs;
    },
    watching(chain, text, at, visit) {
      addresses.visit(text, at, (number) => {
        const entry = byNumber[number];
        if (entry?.chains.has(chain) && !entry.record.options.allAddresses) visit(entry);
      });
    },
    unscoped(chain) {
      let found = unscoped.get(chain);
      if (found === undefined) {
        found = streamsOf(chain).filter(({ record }) => record.options.allAddresses);
        unscoped.set(chain, found);
      }
      return found;
    },
  };
}

const takesTransactions = ({ includeNativeTxs, advancedOptions }: StreamOptions): boolean =>
  includeNativeTxs || (advancedOptions ?? []).some((option) => option.includeNativeTxs);

/** Options are checked when they are saved; should some still not compile, only that stream is silent. */
function compile(options: StreamOptions): Selection {
  try {
    return createSelection(options);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    return { take: () => 'no' };
  }
}
