import type { StreamSummary } from '@sluice/kit/sluice';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { useMemo, useState } from 'react';
import { countsQuery } from '../../../data/queries/history.ts';
import {
  toFilterGroups,
  toParam,
  type Choice,
  type CountedField,
  type FilterGroup,
} from './filterChoices.ts';
import { formatCount } from '../../../ui/text/format.ts';
import { isSearch, type ListFilter } from '../../../data/live/liveCache.ts';
import { withoutUndefined, type DeliveriesSearch } from '../../../data/search.ts';
import type { WatchedChain } from '../../../chains/timeline.ts';
import { DELIVERY_CONDITIONS, PHASE_CONDITIONS } from '../../../words/condition.ts';
import { Button } from '../../../ui/button.tsx';
import { PeriodField } from '../../../ui/form/period/periodField.tsx';
import { StatusShape, type Condition } from '../../../ui/status.tsx';
import { ErrorPanel } from '../../../words/errorPanel.tsx';

/** Number of values listed at first; there may be thousands of streams. */
const FIRST_CHOICES = 20;
const MORE_CHOICES = 100;

/**
 * Lists the values of each filter with their counts. A click on a selected value clears the filter.
 */
export function FilterCounts({
  filter,
  search,
  streams,
  stream,
  chains,
  onChoose,
  onRange,
}: {
  filter: ListFilter;
  search: DeliveriesSearch;
  /** Streams for the stream filter; null on the page of one stream. */
  streams: readonly StreamSummary[] | null;
  /** The only stream whose deliveries are listed; undefined if there are several. */
  stream: StreamSummary | undefined;
  chains: readonly WatchedChain[];
  /** Called before the filter changes. */
  onChoose: () => void;
  onRange: (range: { from: number | undefined; until: number | undefined }) => void;
}) {
  const { data, isError, error, isPlaceholderData, refetch } = useQuery({
    ...countsQuery(filter),
    placeholderData: keepPreviousData,
  });
  const filterGroups = useMemo(
    () => (data === undefined ? [] : toFilterGroups(data, search, streams, chains, stream)),
    [data, search, streams, chains, stream],
  );
  if (isError) {
    return (
      <ErrorPanel what="Couldn't count deliveries" error={error} onRetry={() => void refetch()} />
    );
  }
  if (data === undefined) return <p className="animate-late px-4 py-3 text-faint">Counting…</p>;
  return (
    <nav
      aria-label="Filter"
      className={clsx('grid grid-cols-1 gap-3 py-3', isPlaceholderData && 'opacity-60')}
    >
      {filterGroups.map((group) => (
        <Choices
          key={group.name}
          group={group}
          search={search}
          isCapped={data.isCapped}
          onChoose={onChoose}
        />
      ))}
      <section aria-label="Created in" className="px-4">
        <PeriodField
          label="Created in"
          empty="Any time"
          value={search}
          onChange={({ from, until }) => onRange({ from, until })}
          className="w-full min-w-0 justify-start"
        />
      </section>
      {isSearch(filter) && <p className="px-4 text-12 text-faint">Counts ignore the search.</p>}
      {data.isCapped && (
        <p className="px-4 text-12 text-faint">
          Only the newest 25,000 deliveries of the selected streams and time range are counted, so
          there may be more.
        </p>
      )}
    </nav>
  );
}

/** Signs of the values in the list, which the filter explains by the words next to them. */
const SIGNS: { [Name in CountedField]?: Readonly<Record<string, Condition>> } = {
  state: DELIVERY_CONDITIONS,
  phase: PHASE_CONDITIONS,
};

/** Lists the first values of a filter, and the selected value even if it is further down. */
function Choices({
  group: { name, title, choices },
  search,
  isCapped,
  onChoose,
}: {
  group: FilterGroup;
  search: DeliveriesSearch;
  /** Whether older deliveries were not counted. */
  isCapped: boolean;
  onChoose: () => void;
}) {
  const [most, setMost] = useState(FIRST_CHOICES);
  const isChosen = ({ value }: Choice): boolean => String(search[name] ?? '') === value;
  return (
    <section aria-label={title}>
      <h2 className="caps px-4 pb-0.5">{title}</h2>
      <ul>
        {choices
          .filter((choice, index) => index < most || isChosen(choice))
          .map((choice) => {
            const { value, label, count, within } = choice;
            const chosen = isChosen(choice);
            const sign = SIGNS[name]?.[value];
            return (
              <li key={value}>
                <Link
                  to="."
                  search={(now) =>
                    withoutUndefined<typeof now>({
                      ...now,
                      sel: undefined,
                      // Each stream numbers its own destinations.
                      ...(name === 'stream' && { destination: undefined }),
                      [name]: chosen ? undefined : toParam(value),
                    })
                  }
                  aria-current={chosen || undefined}
                  onClick={onChoose}
                  className={clsx(
                    'flex min-h-6 items-baseline gap-3 px-4 py-0.5 text-12 hover:bg-raised pointer-coarse:min-h-11 pointer-coarse:items-center',
                    within === true && 'pl-7',
                    chosen
                      ? 'bg-raised font-medium shadow-[inset_2px_0_var(--color-accent)]'
                      : 'text-muted',
                  )}
                >
                  {sign !== undefined && (
                    <span className="-mr-1.5 self-center">
                      <StatusShape condition={sign} />
                    </span>
                  )}
                  <span data-cut className="min-w-0 flex-1 truncate">
                    {label}
                  </span>
                  <span className="data text-faint">
                    {isCapped && (
                      <>
                        <span aria-hidden="true">≥ </span>
                        <span className="sr-only">at least </span>
                      </>
                    )}
                    {formatCount(count)}
                  </span>
                </Link>
              </li>
            );
          })}
      </ul>
      {choices.length > most && (
        <Button variant="quiet" className="ml-2" onClick={() => setMost(most + MORE_CHOICES)}>
          Show more ({formatCount(choices.length - most)} left)
        </Button>
      )}
    </section>
  );
}
