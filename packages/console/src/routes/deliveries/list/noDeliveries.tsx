import type { StreamSummary } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { countsQuery, newestQuery } from '../../../data/queries/history.ts';
import { toFilterGroups, toParam } from '../filters/filterChoices.ts';
import { formatCount } from '../../../ui/text/format.ts';
import type { ListFilter } from '../../../data/live/liveCache.ts';
import { withoutUndefined, toListFilter, type DeliveriesSearch } from '../../../data/search.ts';
import type { WatchedChain } from '../../../chains/timeline.ts';
import { Button } from '../../../ui/button.tsx';
import { Ago } from '../../../ui/text/time.tsx';

/** Explains that the list is empty, and offers other values for the active filters. */
export function NoDeliveries({
  isIncomplete,
  filter,
  search,
  streams,
  chains,
  onChoose,
  onClear,
}: {
  /** Whether a search has stopped before it checked all deliveries. */
  isIncomplete: boolean;
  filter: ListFilter;
  search: DeliveriesSearch;
  streams: readonly StreamSummary[];
  chains: readonly WatchedChain[];
  /** Called before the filter changes. */
  onChoose: () => void;
  onClear: () => void;
}) {
  const isFiltered = Object.keys(toListFilter(search)).length > 0;
  const { data: counts } = useQuery({ ...countsQuery(filter), enabled: isFiltered });
  const { sinceMs: _sinceMs, ...everSince } = filter;
  const { data: last } = useQuery({
    ...newestQuery(everSince),
    enabled: search.since !== undefined,
  });
  if (!isFiltered) {
    return (
      <div className="px-4 py-6">
        <p className="font-medium">No deliveries yet</p>
        <p className="mt-1 text-muted">Deliveries appear here when a block matches a stream.</p>
      </div>
    );
  }
  if (isIncomplete) return <p className="px-4 pt-6 pb-2 font-medium">No matches so far</p>;
  const instead = (
    counts === undefined ? [] : toFilterGroups(counts, search, streams, chains)
  ).filter(
    ({ name, choices }) => name !== 'since' && search[name] !== undefined && choices.length > 0,
  );
  return (
    <div className="px-4 py-6">
      <p className="font-medium">No deliveries match this filter</p>
      {filter.createdTo === undefined && (
        <p className="mt-1 text-muted">Deliveries that match this filter will appear here.</p>
      )}
      {last != null && (
        <p className="mt-2">
          <Link
            to="."
            search={(now) => withoutUndefined<typeof now>({ ...now, since: undefined })}
            onClick={onChoose}
            className="text-accent hover:underline"
          >
            Last delivery <Ago timeMs={last.createdAt} /> →
          </Link>
        </p>
      )}
      {instead.map(({ name, title, choices }) => (
        <p key={name} className="mt-2 flex flex-wrap items-baseline gap-x-3">
          <span className="text-muted">{title}:</span>
          {choices.map(({ value, label, count }) => (
            <Link
              key={value}
              to="."
              search={(now) => withoutUndefined<typeof now>({ ...now, [name]: toParam(value) })}
              onClick={onChoose}
              className="inline-flex min-h-6 items-baseline gap-1 text-accent hover:underline"
            >
              {label} <span className="data text-faint">{formatCount(count)}</span>
            </Link>
          ))}
        </p>
      ))}
      <Button className="mt-3" onClick={onClear}>
        Show all deliveries
      </Button>
    </div>
  );
}
