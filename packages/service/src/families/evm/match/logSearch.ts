/**
 * Plans `eth_getLogs` queries that find the blocks that streams match. A plan finds at least the
 * logs that the streams match; the matcher then checks them.
 */
import type { LogFilter, LogSearch } from '../../../match/logSearch.ts';
import { unindexedFilters } from './transfers.ts';

/** The rules of a stream that matches a block only if it matches one of the block's logs. */
export interface SearchedStream {
  /** Hashes of the events that the stream selects; empty if it selects all. */
  topics: readonly string[];
  /** Highest position of a topic that may contain a watched address: 1 to 3, or 0 for no topic. */
  lastTopic: number;
  /**
   * Addresses in lowercase, `any` if the stream watches all addresses, or `many` if there are too
   * many to list.
   */
  addresses: readonly string[] | 'any' | 'many';
}

/** Maximum number of addresses in one filter. geth and its forks accept up to 1,000. */
export const ADDRESSES_PER_FILTER = 500;

/** Returns the plans; undefined if they would have to request every log. */
export function planLogs(
  chain: string,
  streams: readonly SearchedStream[],
): LogSearch['plans'] | undefined {
  const anywhere = streams.filter(({ addresses }) => addresses === 'any');
  const scoped = streams.filter(({ addresses }) => addresses !== 'any');
  const all = topicsOf(streams);
  if (streams.length === 0) return [[]];
  if (anywhere.some(({ topics }) => topics.length === 0)) return undefined;
  const ofAnyone = anywhere.length === 0 ? [] : [{ topics: [topicsOf(anywhere)] }];
  const byEvent = all === null ? undefined : [{ topics: [all] }];
  const byAddress = scoped.some(({ addresses }) => addresses === 'many')
    ? undefined
    : [...filterAddresses(chain, scoped), ...ofAnyone];
  if (byAddress === undefined) return byEvent && [byEvent];
  return byEvent !== undefined && byEvent.length < byAddress.length
    ? [byAddress, byEvent]
    : [byAddress];
}

/**
 * Returns filters that find addresses wherever the matcher does: as the emitter, in each topic from
 * 1 to the highest `lastTopic`, and in the data of logs without indexed parameters.
 */
function filterAddresses(chain: string, streams: readonly SearchedStream[]): LogFilter[] {
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
  return addresses.length === 0 ? filters : [...filters, ...unindexedFilters(chain, event)];
}

/** Returns the events of these streams, or null if one of them matches every event. */
const topicsOf = (streams: readonly SearchedStream[]): string[] | null =>
  streams.some(({ topics }) => topics.length === 0)
    ? null
    : [...new Set(streams.flatMap(({ topics }) => topics))];
