import type { StreamSummary } from '@sluice/kit/sluice';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { useMemo, useState } from 'react';
import { countsQuery } from '../../../data/queries/history.ts';
import { toFilterGroups, toParam, type Choice, type FilterGroup } from './filterChoices.ts';
import { formatCount, formatDateTime } from '../../../ui/text/format.ts';
import type { ListFilter } from '../../../data/live/liveCache.ts';
import { present, type DeliveriesSearch } from '../../../data/search.ts';
import type { WatchedChain } from '../../../chains/timeline.ts';
import { Button } from '../../../ui/button.tsx';
import { useZone } from '../../../ui/preferences.ts';
import { parseInZone } from '../../../ui/text/timeZone.ts';
import { ErrorPanel } from '../../../words/errorPanel.tsx';

const MINUTE_MS = 60_000;
/** Maximum number of streams that are listed; there may be thousands. */
const FIRST_CHOICES = 20;
const MORE_CHOICES = 100;

/** Lists the values of each filter with their counts. A second click removes the filter. */
export function FilterCounts({
  filter,
  search,
  streams,
  chains,
  onChoose,
  onUntil,
}: {
  filter: ListFilter;
  search: DeliveriesSearch;
  /** Streams to choose from; null on the page of one stream. */
  streams: readonly StreamSummary[] | null;
  chains: readonly WatchedChain[];
  /** Resets the list. */
  onChoose: () => void;
  onUntil: (until: number | undefined) => void;
}) {
  const { data, isError, error, isPlaceholderData, refetch } = useQuery({
    ...countsQuery(filter),
    placeholderData: keepPreviousData,
  });
  const zone = useZone();
  const filterGroups = useMemo(
    () => (data === undefined ? [] : toFilterGroups(data, search, streams, chains)),
    [data, search, streams, chains],
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
        <Choices key={group.name} group={group} search={search} onChoose={onChoose} />
      ))}
      <Until key={`${search.until} ${zone}`} until={search.until} onUntil={onUntil} />
      {data.isCapped && (
        <p className="px-4 text-12 text-faint">
          Counts cover the newest 25,000 deliveries of these streams.
        </p>
      )}
    </nav>
  );
}

/** Lists values with the most deliveries first; a selected value is always listed. */
function Choices({
  group: { name, title, choices },
  search,
  onChoose,
}: {
  group: FilterGroup;
  search: DeliveriesSearch;
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
            return (
              <li key={value}>
                <Link
                  to="."
                  search={(now) =>
                    present<typeof now>({
                      ...now,
                      sel: undefined,
                      [name]: chosen ? undefined : toParam(value),
                    })
                  }
                  aria-current={chosen || undefined}
                  onClick={onChoose}
                  title={label}
                  className={clsx(
                    'flex min-h-6 items-baseline gap-3 px-4 py-0.5 text-12 hover:bg-raised pointer-coarse:min-h-11 pointer-coarse:items-center',
                    within === true && 'pl-7',
                    chosen
                      ? 'bg-raised font-medium shadow-[inset_2px_0_var(--color-accent)]'
                      : 'text-muted',
                  )}
                >
                  <span className="min-w-0 flex-1 truncate">{label}</span>
                  <span className="data text-faint">{formatCount(count)}</span>
                </Link>
              </li>
            );
          })}
      </ul>
      {choices.length > most && (
        <Button variant="quiet" className="ml-2" onClick={() => setMost(most + MORE_CHOICES)}>
          Show more of {formatCount(choices.length - most)}
        </Button>
      )}
    </section>
  );
}

/** Sets the time at which the list starts, to the minute. */
function Until({
  until,
  onUntil,
}: {
  until: number | undefined;
  onUntil: (until: number | undefined) => void;
}) {
  const given = until === undefined ? '' : formatDateTime(until).slice(0, -3).replace(' ', 'T');
  const [typed, setTyped] = useState(given);
  // Does not react to each keystroke, because a partly typed date can be valid, too.
  const commit = (): void => {
    if (typed === given) return;
    const minute = parseInZone(typed);
    onUntil(Number.isNaN(minute) ? undefined : minute + MINUTE_MS - 1);
  };
  return (
    <label className="block px-4">
      <span className="caps block pb-0.5">Created until</span>
      <input
        type="datetime-local"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={commit}
        onKeyDown={({ key }) => {
          if (key === 'Enter') commit();
        }}
        className="control w-full min-w-0 rounded-control border border-line bg-transparent px-2 text-12 text-muted"
      />
    </label>
  );
}
