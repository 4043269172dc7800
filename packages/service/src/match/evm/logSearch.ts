/**
 * Plans how a node finds the blocks of streams by their logs, with filters of `eth_getLogs`. A plan
 * finds at least the logs that the streams match; the matcher then decides.
 */
import type { EvmLog } from './block.ts';

/**
 * A filter of `eth_getLogs`, without its blocks. Null matches any value; empty lists are never
 * used.
 */
export interface LogFilter {
  address?: readonly string[];
  topics: readonly (readonly string[] | null)[];
}

export interface LogSearch {
  /** Alternative filters that each find all blocks. The first one is the most selective. */
  plans: readonly (readonly LogFilter[])[];
  /** Returns whether the streams match any of these logs of one block. */
  takes(block: { number: number; hash: string; logs: readonly EvmLog[] }): boolean;
}

/** Rules of a stream with matches that always start with a log. */
export interface SearchedStream {
  /** Events that the stream matches; empty for all. */
  topics: readonly string[];
  /** The last topic that may contain one of its addresses, 0 to 3. */
  lastTopic: number;
  /**
   * Addresses in lowercase. `any`: the stream watches all addresses; `many`: there are too many to
   * list.
   */
  addresses: readonly string[] | 'any' | 'many';
}

/** Maximum number of addresses in one filter. geth and its forks accept up to 1,000. */
const ADDRESSES_PER_FILTER = 500;

/** Returns the plan; undefined if no filter is narrower than "every log". */
export function planLogs(streams: readonly SearchedStream[]): LogSearch['plans'] | undefined {
  const anywhere = streams.filter(({ addresses }) => addresses === 'any');
  const scoped = streams.filter(({ addresses }) => addresses !== 'any');
  const all = topicsOf(streams);
  if (streams.length === 0) return [[]];
  if (anywhere.some(({ topics }) => topics.length === 0)) return undefined;
  const ofAnyone = anywhere.length === 0 ? [] : [{ topics: [topicsOf(anywhere)] }];
  const byEvent = all === null ? undefined : [{ topics: [all] }];
  const byAddress = scoped.some(({ addresses }) => addresses === 'many')
    ? undefined
    : [...filterAddresses(scoped), ...ofAnyone];
  if (byAddress === undefined) return byEvent && [byEvent];
  return byEvent !== undefined && byEvent.length < byAddress.length
    ? [byAddress, byEvent]
    : [byAddress];
}

/** Finds addresses wherever the matcher does: as the emitter, and in topics 1 to 3. */
function filterAddresses(streams: readonly SearchedStream[]): LogFilter[] {
  const addresses = [...new Set(streams.flatMap((each) => each.addresses as readonly string[]))];
  const event = topicsOf(streams);
  const lastTopic = Math.max(0, ...streams.map((each) => each.lastTopic));
  const filters: LogFilter[] = [];
  for (let start = 0; start < addresses.length; start += ADDRESSES_PER_FILTER) {
    const address = addresses.slice(start, start + ADDRESSES_PER_FILTER);
    const padded = address.map((each) => `0x${each.slice(2).padStart(64, '0')}`);
    filters.push({ address, topics: event === null ? [] : [event] });
    for (let topic = 1; topic <= lastTopic; topic++) {
      filters.push({ topics: [event, ...Array<null>(topic - 1).fill(null), padded] });
    }
  }
  return filters;
}

/** Returns the events of these streams, or null if one of them matches every event. */
const topicsOf = (streams: readonly SearchedStream[]): string[] | null =>
  streams.some(({ topics }) => topics.length === 0)
    ? null
    : [...new Set(streams.flatMap(({ topics }) => topics))];
