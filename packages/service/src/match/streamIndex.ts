/**
 * The streams of one chain, arranged so that a block finds the ones it concerns by its own
 * addresses and topics: the cost follows the block, not the number of streams.
 */
import { type AbiItem, eventTopic, parseEventSignature } from '@sluice/kit/contract';
import type { Rule, RuleChanges, StreamRecord } from '../store/store.ts';
import type { BlockNeeds, EvmLog } from './block.ts';

/** A stream with its rules compiled once. */
export interface CompiledStream {
  readonly record: StreamRecord;
  readonly addresses: ReadonlySet<string>;
  /** Whether this log is one of the stream's events; true for every log when it names none. */
  wantsEvent(log: EvmLog): boolean;
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
        if (record.options.includeNativeTxs) needs.transactions = true;
        if (record.options.includeInternalTxs) needs.traces = true;
      }
      return needs;
    },
    watching: (chain, address) => chains.get(chain)?.byAddress.get(address) ?? none,
    unscoped: (chain) => chains.get(chain)?.unscoped ?? none,
  };
}

function compile({ stream, addresses }: Rule): CompiledStream {
  const { topic0, abi } = stream.options;
  const wanted = new Set<string>();
  for (const text of topic0 ?? []) {
    const parsed = parseEventSignature(text);
    if (parsed !== undefined) wanted.add(parsed.topic0);
  }
  const indexedCounts = countIndexed(abi ?? []);
  return {
    record: stream,
    addresses: new Set(addresses),
    wantsEvent(log) {
      if (wanted.size === 0) return true;
      const topic = log.topics[0];
      if (topic === undefined || !wanted.has(topic)) return false;
      // ERC-20 and ERC-721 share the topic of Transfer: where the ABI names the event, its
      // indexed inputs decide which of the two is meant.
      const counts = indexedCounts.get(topic);
      return counts === undefined || counts.has(log.topics.length - 1);
    },
  };
}

function countIndexed(abi: readonly AbiItem[]): Map<string, Set<number>> {
  const counts = new Map<string, Set<number>>();
  for (const item of abi) {
    if (item.type !== 'event' || item.anonymous) continue;
    const topic = eventTopic(item);
    const indexed = (item.inputs ?? []).filter((input) => input.indexed).length;
    counts.set(topic, (counts.get(topic) ?? new Set()).add(indexed));
  }
  return counts;
}
