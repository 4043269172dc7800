/**
 * The streams of one chain, arranged so that a block finds the ones it concerns by its own
 * addresses and topics: the cost follows the block, not the number of streams.
 */
import type { Rule, RuleChanges, StreamOptions, StreamRecord } from '../store/store.ts';
import type { BlockNeeds } from './block.ts';
import { FilterError } from './filter.ts';
import { type Selection, createSelection } from './selection.ts';

/** A stream with its rules compiled once. */
export interface CompiledStream {
  readonly record: StreamRecord;
  readonly addresses: ReadonlySet<string>;
  readonly selection: Selection;
}

export interface StreamIndex {
  /** Revision of the rules this index stands at; -1 before the first `apply`. */
  readonly revision: number;
  apply(changes: RuleChanges): void;
  needs(chain: string): BlockNeeds;
  /** Streams of the chain that watch this address. */
  watching(chain: string, address: string): Iterable<CompiledStream>;
  /** Streams of the chain that watch every address. */
  unscoped(chain: string): Iterable<CompiledStream>;
}

interface ChainEntry {
  streams: Set<CompiledStream>;
  unscoped: Set<CompiledStream>;
  byAddress: Map<string, Set<CompiledStream>>;
}

export function createStreamIndex(): StreamIndex {
  let revision = -1;
  const streams = new Map<string, CompiledStream>();
  const chains = new Map<string, ChainEntry>();
  const none: ReadonlySet<CompiledStream> = new Set();

  const remove = (id: string): void => {
    const stream = streams.get(id);
    if (stream === undefined) return;
    streams.delete(id);
    for (const chain of stream.record.chainIds) {
      const entry = chains.get(chain);
      if (entry === undefined) continue;
      entry.streams.delete(stream);
      entry.unscoped.delete(stream);
      for (const address of stream.addresses) {
        const watchers = entry.byAddress.get(address);
        watchers?.delete(stream);
        if (watchers?.size === 0) entry.byAddress.delete(address);
      }
    }
  };

  const add = (stream: CompiledStream): void => {
    streams.set(stream.record.id, stream);
    for (const chain of stream.record.chainIds) {
      const entry = chains.get(chain) ?? {
        streams: new Set(),
        unscoped: new Set(),
        byAddress: new Map<string, Set<CompiledStream>>(),
      };
      chains.set(chain, entry);
      entry.streams.add(stream);
      if (stream.record.options.allAddresses) {
        entry.unscoped.add(stream);
        continue;
      }
      for (const address of stream.addresses) {
        const watchers = entry.byAddress.get(address) ?? new Set();
        watchers.add(stream);
        entry.byAddress.set(address, watchers);
      }
    }
  };

  return {
    get revision() {
      return revision;
    },
    apply(changes) {
      for (const id of changes.gone) remove(id);
      for (const rule of changes.changed) {
        remove(rule.stream.id);
        add(compile(rule));
      }
      revision = changes.revision;
    },
    needs(chain) {
      const needs = { logs: false, transactions: false, traces: false };
      for (const { record, addresses } of chains.get(chain)?.streams ?? none) {
        if (addresses.size === 0 && !record.options.allAddresses) continue;
        if (record.options.includeContractLogs || record.options.includeAllTxLogs)
          needs.logs = true;
        if (takesTransactions(record.options)) needs.transactions = true;
        if (record.options.includeInternalTxs) needs.traces = true;
      }
      return needs;
    },
    watching: (chain, address) => chains.get(chain)?.byAddress.get(address) ?? none,
    unscoped: (chain) => chains.get(chain)?.unscoped ?? none,
  };
}

const takesTransactions = ({ includeNativeTxs, advancedOptions }: StreamOptions): boolean =>
  includeNativeTxs || (advancedOptions ?? []).some((option) => option.includeNativeTxs);

function compile({ stream, addresses }: Rule): CompiledStream {
  return { record: stream, addresses: new Set(addresses), selection: select(stream.options) };
}

/** Options are checked when they are saved; should some still not compile, only that stream is silent. */
function select(options: StreamOptions): Selection {
  try {
    return createSelection(options);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    return { take: () => 'no' };
  }
}
