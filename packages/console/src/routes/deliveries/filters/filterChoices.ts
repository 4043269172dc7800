/** Builds the filters of deliveries with their counts. Pure. */
import type { DeliveryCounts, DeliveryState, ValueCount, StreamSummary } from '@sluice/kit/sluice';
import { deliveryCondition, PHASE_CONDITIONS } from '../../../words/condition.ts';
import { ATTEMPT_RANGES, PHASES, SINCES, type DeliveriesSearch } from '../../../data/search.ts';
import { nameOfStreamId } from '../../../words/names.ts';
import type { WatchedChain } from '../../../chains/timeline.ts';

/** Search params that filter deliveries. */
export type CountedField = Exclude<
  keyof DeliveriesSearch,
  'sel' | 'view' | 'q' | 'triedFrom' | 'triedUntil' | 'replay' | 'from' | 'until'
>;

export interface Choice {
  value: string;
  label: string;
  count: number;
  /** A status code listed under its class. */
  within?: boolean;
}

export interface FilterGroup {
  name: CountedField;
  title: string;
  choices: Choice[];
}

const sumOf = (counts: readonly ValueCount[], has: (value: string) => boolean): number =>
  counts.reduce((sum, { value, count }) => (has(value) ? sum + count : sum), 0);

const classOf = (status: string): string => (status === 'none' ? status : `${status[0]}xx`);

/** Returns status classes, followed by their codes if there are several: `5xx`, `500`, `503`. */
function statusChoices(counts: readonly ValueCount[]): Choice[] {
  const classes = [...new Set(counts.map(({ value }) => classOf(value)))].toSorted();
  return classes.flatMap((name): Choice[] => {
    const codes = counts.filter(({ value }) => value !== 'none' && classOf(value) === name);
    return [
      {
        value: name,
        label: name === 'none' ? 'no response' : name,
        count: sumOf(counts, (value) => classOf(value) === name),
      },
      ...(codes.length < 2 ? [] : codes).map(({ value, count }) => ({
        value,
        label: value,
        count,
        within: true,
      })),
    ];
  });
}

/** Shows the filter even if all deliveries have the same value. */
const ALWAYS_SHOWN: readonly CountedField[] = ['state', 'status'];

/** Returns the filters, without those for which all deliveries have the same value. */
export function toFilterGroups(
  counts: DeliveryCounts,
  search: DeliveriesSearch,
  streams: readonly StreamSummary[] | null,
  chains: readonly WatchedChain[],
): FilterGroup[] {
  const named = (list: readonly ValueCount[], labelOf: (value: string) => string): Choice[] =>
    list.map(({ value, count }) => ({ value, label: labelOf(value), count }));
  const shorter = new Set<string>();
  const filterGroups: FilterGroup[] = [
    {
      name: 'state',
      title: 'State',
      choices: named(
        counts.state,
        (state) => deliveryCondition({ state: state as DeliveryState, attempts: 0 }).word,
      ),
    },
    { name: 'status', title: 'Response', choices: statusChoices(counts.status) },
    {
      name: 'stream',
      title: 'Stream',
      choices: named(counts.streamId, (id) => nameOfStreamId(id, streams)),
    },
    {
      name: 'chain',
      title: 'Chain',
      choices: named(counts.chainId, (id) => chains.find((chain) => chain.id === id)?.name ?? id),
    },
    {
      name: 'phase',
      title: 'Phase',
      choices: named(
        counts.phase.toSorted(
          (a, b) =>
            PHASES.findIndex((it) => it === a.value) - PHASES.findIndex((it) => it === b.value),
        ),
        (phase) => PHASE_CONDITIONS[phase as keyof typeof PHASE_CONDITIONS].word,
      ),
    },
    {
      name: 'reorged',
      title: 'Reorg',
      choices: named(counts.reorged, (gone) =>
        gone === 'true' ? 'block left the chain' : 'still on the chain',
      ),
    },
    {
      name: 'attempts',
      title: 'Attempts',
      choices: ATTEMPT_RANGES.map(({ value, label, from, to }) => ({
        value,
        label,
        count: sumOf(counts.attempts, (text) => Number(text) >= from && Number(text) <= to),
      })).filter(({ count }) => count > 0),
    },
    {
      name: 'since',
      title: 'Created in the last',
      choices: SINCES.map(({ value, label }) => {
        shorter.add(value);
        return { value, label, count: sumOf(counts.age, (age) => shorter.has(age)) };
      }).filter(
        // Omits a longer period that adds no deliveries.
        ({ value, count }, index, all) =>
          count > (all[index - 1]?.count ?? 0) || value === search.since,
      ),
    },
  ];
  return filterGroups.filter(
    ({ name, choices }) =>
      (name !== 'stream' || streams !== null) &&
      (choices.length > 1 ||
        search[name] !== undefined ||
        (choices.length === 1 && ALWAYS_SHOWN.includes(name))),
  );
}

/** Converts a value to the type that the router writes without quotes. */
export const toParam = (value: string): string | number | boolean =>
  /^\d+$/.test(value)
    ? Number(value)
    : ['true', 'false'].includes(value)
      ? value === 'true'
      : value;
