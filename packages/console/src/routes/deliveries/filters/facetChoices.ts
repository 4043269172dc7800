/** What deliveries can be chosen by, with how many there are of each. Pure. */
import type { DeliveryFacets, DeliveryState, FacetCount, StreamSummary } from '@sluice/kit/sluice';
import { deliveryCondition, PHASE_CONDITIONS } from '../../../words/condition.ts';
import { ATTEMPT_RANGES, PHASES, SINCES, type DeliveriesSearch } from '../../../data/search.ts';
import { nameOfStreamId } from '../../../words/names.ts';
import type { WatchedChain } from '../../../chains/tape.ts';

/** The search params that choose among deliveries. */
export type FacetName = Exclude<keyof DeliveriesSearch, 'sel' | 'view' | 'replay' | 'until'>;

export interface Choice {
  value: string;
  label: string;
  count: number;
  /** A code below its class. */
  within?: boolean;
}

export interface Facet {
  name: FacetName;
  title: string;
  choices: Choice[];
}

const sumOf = (counts: readonly FacetCount[], has: (value: string) => boolean): number =>
  counts.reduce((sum, { value, count }) => (has(value) ? sum + count : sum), 0);

const classOf = (status: string): string => (status === 'none' ? status : `${status[0]}xx`);

/** Classes, with their codes where they have several: `5xx`, and under it `500` and `503`. */
function statusChoices(counts: readonly FacetCount[]): Choice[] {
  const classes = [...new Set(counts.map(({ value }) => classOf(value)))].toSorted();
  return classes.flatMap((name): Choice[] => {
    const codes = counts.filter(({ value }) => value !== 'none' && classOf(value) === name);
    return [
      {
        value: name,
        label: name === 'none' ? 'no answer' : name,
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

/** How deliveries fared: chosen to act on them, also where all fared alike. */
const ALWAYS_SHOWN: readonly FacetName[] = ['state', 'status'];

/** What can be chosen, in words; of the others, a facet whose deliveries are all alike is left out. */
export function toFacets(
  counts: DeliveryFacets,
  search: DeliveriesSearch,
  streams: readonly StreamSummary[] | null,
  chains: readonly WatchedChain[],
): Facet[] {
  const named = (list: readonly FacetCount[], labelOf: (value: string) => string): Choice[] =>
    list.map(({ value, count }) => ({ value, label: labelOf(value), count }));
  const shorter = new Set<string>();
  const facets: Facet[] = [
    {
      name: 'state',
      title: 'State',
      choices: named(
        counts.state,
        (state) => deliveryCondition({ state: state as DeliveryState, attempts: 0 }).word,
      ),
    },
    { name: 'status', title: 'Answer', choices: statusChoices(counts.status) },
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
      title: 'Made in the last',
      choices: SINCES.map(({ value, label }) => {
        shorter.add(value);
        return { value, label, count: sumOf(counts.age, (age) => shorter.has(age)) };
      }).filter(
        // A longer time that finds nothing more is no choice.
        ({ value, count }, index, all) =>
          count > (all[index - 1]?.count ?? 0) || value === search.since,
      ),
    },
  ];
  return facets.filter(
    ({ name, choices }) =>
      (name !== 'stream' || streams !== null) &&
      (choices.length > 1 ||
        search[name] !== undefined ||
        (choices.length === 1 && ALWAYS_SHOWN.includes(name))),
  );
}

/** As the router writes it without quotes. */
export const toParam = (value: string): string | number | boolean =>
  /^\d+$/.test(value)
    ? Number(value)
    : ['true', 'false'].includes(value)
      ? value === 'true'
      : value;
