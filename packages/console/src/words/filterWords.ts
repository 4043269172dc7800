/** A selection of deliveries in words. Pure. */
import type { DeliveryFilter, OneOrSeveral } from '@sluice/kit/sluice';
import { deliveryCondition } from './condition.ts';
import { formatCount, formatDateTime } from '../ui/text/format.ts';

/** Names for ids; each gives the id back where it knows none. */
export interface Names {
  ofStream: (id: string) => string;
  ofChain: (id: string) => string;
  ofReplay: (id: string) => string;
}

export const listOf = <Value>(given: OneOrSeveral<Value> | undefined): readonly Value[] =>
  given === undefined ? [] : ([given].flat() as Value[]);

const oneOf = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

function rangeOf(from: string | undefined, to: string | undefined): string {
  if (from !== undefined && to !== undefined) return from === to ? from : `${from} to ${to}`;
  return from === undefined ? `until ${to}` : `since ${from}`;
}

/** `failed deliveries of deposits, answered 5xx, made since 2026-11-21 10:42:00`. */
export function describeFilter(filter: DeliveryFilter, names: Names): string {
  const { blockFrom, blockTo, createdFrom, createdTo, attemptsFrom, attemptsTo } = filter;
  const ids = listOf(filter.id);
  const states = listOf(filter.state).map(
    (state) => deliveryCondition({ state, attempts: 0 }).word,
  );
  const kinds = [oneOf(listOf(filter.phase)), oneOf(states)].filter((word) => word !== '');
  const answers = listOf(filter.status);
  const codes = answers.filter((answer) => answer !== 'none');
  const streams = listOf(filter.streamId).map(names.ofStream);
  const chains = listOf(filter.chainId).map(names.ofChain);
  const time = (ms: number | undefined) => (ms === undefined ? ms : formatDateTime(ms));
  const block = (number: number | undefined) =>
    number === undefined ? number : formatCount(number);
  const tries = (count: number | undefined) => (count === undefined ? count : String(count));
  return [
    [
      ids.length === 0
        ? [...kinds, 'deliveries'].join(' ')
        : `${[formatCount(ids.length), ...kinds].join(' ')} ${ids.length === 1 ? 'delivery' : 'deliveries'} chosen one by one`,
      streams.length === 0 ? '' : ` of ${oneOf(streams)}`,
      chains.length === 0 ? '' : ` on ${oneOf(chains)}`,
    ].join(''),
    ...(codes.length > 0 ? [`answered ${oneOf(codes)}`] : []),
    ...(answers.length > codes.length
      ? [codes.length > 0 ? 'or not answered at all' : 'that nobody answered']
      : []),
    ...(filter.error === undefined ? [] : [`with “${filter.error}” in the error`]),
    ...(blockFrom === undefined && blockTo === undefined
      ? []
      : [`of block ${rangeOf(block(blockFrom), block(blockTo))}`]),
    ...(createdFrom === undefined && createdTo === undefined
      ? []
      : [`made ${rangeOf(time(createdFrom), time(createdTo))}`]),
    ...(attemptsFrom === undefined && attemptsTo === undefined
      ? []
      : [`tried ${describeTries(tries(attemptsFrom), tries(attemptsTo))}`]),
    ...(filter.reorged === undefined
      ? []
      : [filter.reorged ? 'whose block left the chain' : 'whose block is still on the chain']),
    ...(filter.replayId === undefined ? [] : [`sent again by ${names.ofReplay(filter.replayId)}`]),
  ].join(', ');
}

const describeTries = (from: string | undefined, to: string | undefined): string =>
  from === undefined
    ? `${to} times at most`
    : to === undefined
      ? `${from} times or more`
      : from === to
        ? `${from} ${from === '1' ? 'time' : 'times'}`
        : `${from} to ${to} times`;

/** What a replay of this selection would be called. */
export const nameFilter = (
  { state, phase, status, streamId }: DeliveryFilter,
  ofStream: Names['ofStream'],
): string =>
  [state, status, phase, listOf(streamId).map(ofStream)]
    .flatMap((part) => (part === undefined ? [] : part))
    .join(' ');
