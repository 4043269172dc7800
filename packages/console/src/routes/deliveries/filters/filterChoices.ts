/** Builds the delivery filters, and the counts of deliveries for each choice. */
import type { DeliveryCounts, DeliveryState, ValueCount, StreamSummary } from '@sluice/kit/sluice';
import { DELIVERY_CONDITIONS, PHASE_CONDITIONS } from '../../../words/condition.ts';
import { ATTEMPT_RANGES, PHASES, SINCES, type DeliveriesSearch } from '../../../data/search.ts';
import { nameOfDestination } from '../../../words/destinations.ts';
import { nameOfStreamId } from '../../../words/names.ts';
import type { WatchedChain } from '../../../chains/timeline.ts';

/** Search params for which the deliveries are counted by value. */
export type CountedField = Exclude<
  keyof DeliveriesSearch,
  | 'sel'
  | 'view'
  | 'q'
  | 'body'
  | 'triedFrom'
  | 'triedUntil'
  | 'tookFrom'
  | 'tookUntil'
  | 'result'
  | 'receiver'
  | 'replay'
  | 'from'
  | 'until'
  | 'blockFrom'
  | 'blockTo'
>;

export interface Choice {
  value: string;
  label: string;
  count: number;
  /** True for a status code, which is listed under its class. */
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

/** Adds the selected value if no delivery has it, so that it can be seen and cleared. */
const withSelected = (
  counts: readonly ValueCount[],
  selected: string | number | boolean | undefined,
): readonly ValueCount[] =>
  selected === undefined || counts.some(({ value }) => value === String(selected))
    ? counts
    : [...counts, { value: String(selected), count: 0 }];

/**
 * Returns each status class, followed by its codes if it has several or one is selected: `5xx`,
 * `500`, `503`.
 */
function statusChoices(counts: readonly ValueCount[], selected: string | undefined): Choice[] {
  const isCode = selected !== undefined && /^\d+$/.test(selected);
  const all = isCode ? withSelected(counts, selected) : counts;
  const classes = [
    ...new Set([
      ...all.map(({ value }) => classOf(value)),
      ...(selected ? [classOf(selected)] : []),
    ]),
  ].toSorted();
  return classes.flatMap((name): Choice[] => {
    const codes = all.filter(({ value }) => value !== 'none' && classOf(value) === name);
    return [
      {
        value: name,
        label: name === 'none' ? 'no response' : name,
        count: sumOf(counts, (value) => classOf(value) === name),
      },
      ...(codes.length < 2 && codes[0]?.value !== selected ? [] : codes).map(
        ({ value, count }) => ({
          value,
          label: value,
          count,
          within: true,
        }),
      ),
    ];
  });
}

/** Filters that are shown even if they have a single choice. */
const ALWAYS_SHOWN: readonly CountedField[] = ['state', 'status'];

/**
 * Returns the filters that have several choices, are set, or are in `ALWAYS_SHOWN` and have a
 * choice. Without streams, omits the stream filter.
 * @param stream the only stream whose deliveries are listed; undefined if there are several.
 */
export function toFilterGroups(
  counts: DeliveryCounts,
  search: DeliveriesSearch,
  streams: readonly StreamSummary[] | null,
  chains: readonly WatchedChain[],
  stream?: StreamSummary,
): FilterGroup[] {
  const named = (
    name: CountedField,
    list: readonly ValueCount[],
    labelOf: (value: string) => string,
  ): Choice[] =>
    withSelected(list, search[name]).map((each) => ({ ...each, label: labelOf(each.value) }));
  const shorter = new Set<string>();
  const filterGroups: FilterGroup[] = [
    {
      name: 'state',
      title: 'State',
      choices: named(
        'state',
        counts.state,
        (state) => DELIVERY_CONDITIONS[state as DeliveryState].word,
      ),
    },
    { name: 'status', title: 'Response', choices: statusChoices(counts.status, search.status) },
    {
      name: 'stream',
      title: 'Stream',
      choices: named('stream', counts.streamId, (id) => nameOfStreamId(id, streams)),
    },
    {
      name: 'destination',
      title: 'Destination',
      choices: named('destination', counts.destination, (number) =>
        nameOfDestination(Number(number), stream),
      ),
    },
    {
      name: 'chain',
      title: 'Chain',
      choices: named(
        'chain',
        counts.chainId,
        (id) => chains.find((chain) => chain.id === id)?.name ?? id,
      ),
    },
    {
      name: 'phase',
      title: 'Phase',
      choices: named(
        'phase',
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
      choices: named('reorged', counts.reorged, (gone) =>
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
      })).filter(({ value, count }) => count > 0 || value === search.attempts),
    },
    {
      name: 'since',
      title: 'Created in the last',
      choices: SINCES.map(({ value, label }) => {
        shorter.add(value);
        return { value, label, count: sumOf(counts.age, (age) => shorter.has(age)) };
      }).filter(
        // Omits a longer period that adds no deliveries, unless it is selected.
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

/**
 * Converts the text of a number or a boolean to its value, because the router would write the text
 * with quotes. Returns any other text unchanged.
 */
export const toParam = (value: string): string | number | boolean =>
  /^\d+$/.test(value)
    ? Number(value)
    : ['true', 'false'].includes(value)
      ? value === 'true'
      : value;
