/** Describes a filter of deliveries in words. */
import type { DeliveryFilter, OneOrMany } from '@sluice/kit/sluice';
import { DELIVERY_CONDITIONS } from './condition.ts';
import { formatCount, formatDateTime, formatHash } from '../ui/text/format.ts';

/** Functions that return the display name of an id, even if its object is unknown. */
export interface DisplayNames {
  ofStream: (id: string) => string;
  ofChain: (id: string) => string;
  ofReplay: (id: string) => string;
}

export const listOf = <Value>(given: OneOrMany<Value> | undefined): readonly Value[] =>
  given === undefined ? [] : ([given].flat() as Value[]);

const rangeOf = (from: string | undefined, to: string | undefined): string | undefined => {
  if (from === undefined) return to === undefined ? undefined : `≤ ${to}`;
  if (to === undefined) return `≥ ${from}`;
  return from === to ? from : `${from} to ${to}`;
};

/**
 * Formats a filter: `State: failed · Stream: deposits · Response: 5xx · Created: ≥ 2026-11-21
 * 10:42:00`. An empty filter is `All deliveries`.
 */
export function describeFilter(filter: DeliveryFilter, names: DisplayNames): string {
  const { blockFrom, blockTo, createdFrom, createdTo, attemptsFrom, attemptsTo } = filter;
  const states = listOf(filter.state).map((state) => DELIVERY_CONDITIONS[state].word);
  const time = (ms: number | undefined) => (ms === undefined ? ms : formatDateTime(ms));
  const count = (number: number | undefined) =>
    number === undefined ? number : formatCount(number);
  const ids = listOf(filter.id).length;
  const conditions: [label: string, values: string | undefined][] = [
    ['Selected', ids === 0 ? undefined : formatCount(ids)],
    ['State', states.join(', ')],
    ['Phase', listOf(filter.phase).join(', ')],
    ['Stream', listOf(filter.streamId).map(names.ofStream).join(', ')],
    ['Destination', filter.destination?.toString()],
    ['Receiver', filter.receiver],
    ['Chain', listOf(filter.chainId).map(names.ofChain).join(', ')],
    ['Response', listOf(filter.status).join(', ')],
    ['Error', filter.error && `“${filter.error}”`],
    ['Transaction', filter.transactionHash && formatHash(filter.transactionHash)],
    ['Block', rangeOf(count(blockFrom), count(blockTo))],
    ['Created', rangeOf(time(createdFrom), time(createdTo))],
    ['Attempts', rangeOf(count(attemptsFrom), count(attemptsTo))],
    ['Block removed', filter.reorged === undefined ? undefined : filter.reorged ? 'yes' : 'no'],
    ['Replay', filter.replayId && names.ofReplay(filter.replayId)],
  ];
  const set = conditions.filter(([, values]) => values);
  return set.map(([label, values]) => `${label}: ${values}`).join(' · ') || 'All deliveries';
}

/**
 * Returns the default name of a replay that uses this filter, such as `failed 5xx deposits`. It
 * contains only states, responses, phases, streams and the destination, and may be empty.
 */
export const nameFilter = (
  { state, phase, status, streamId, destination }: DeliveryFilter,
  ofStream: DisplayNames['ofStream'],
): string =>
  [
    state,
    status,
    phase,
    listOf(streamId).map(ofStream),
    destination === undefined ? undefined : `destination ${destination}`,
  ]
    .flatMap((part) => (part === undefined ? [] : part))
    .join(' ');
