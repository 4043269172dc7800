import type { StreamChild, StreamSummary } from '@sluice/kit/sluice';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useRef } from 'react';
import { childrenQuery, streamQuery } from '../../../data/queries/streams.ts';
import { chainsQuery } from '../../../data/queries/chains.ts';
import { queryKeys, sluice } from '../../../data/queries/service.ts';
import { isTyping, withoutUndefined, type StreamSearch } from '../../../data/search.ts';
import { describeFactory } from '../../../families/draft.ts';
import { Button, buttonClass } from '../../../ui/button.tsx';
import { Select } from '../../../ui/form/field.tsx';
import { useDebounced } from '../../../ui/form/debounced.ts';
import { SearchField } from '../../../ui/form/searchField.tsx';
import { useShortcuts } from '../../../ui/keys/keyboard.ts';
import { Loading } from '../../../ui/loading.tsx';
import { formatQuantity } from '../../../ui/text/format.ts';
import { ErrorPanel } from '../../../words/errorPanel.tsx';
import { ChildTable } from './childTable.tsx';
import { saveLabel } from './saveLabel.ts';

/** Lists and labels the addresses that the factories of a stream have created. */
export function ChildrenTab({ stream }: { stream: StreamSummary }) {
  const queryClient = useQueryClient();
  const { find = '', chain, entry } = useSearch({ from: '/frame/streams/$streamId' });
  const navigate = useNavigate({ from: '/streams/$streamId' });
  const show = (
    change: { [Name in 'find' | 'chain' | 'entry']?: StreamSearch[Name] | undefined },
    replace = false,
  ): void =>
    void navigate({
      search: withoutUndefined<StreamSearch>({
        ...{ tab: 'children', find: find || undefined, chain, entry },
        ...change,
      }),
      replace,
    });
  const sought = useDebounced(find.trim());
  const list = useInfiniteQuery(
    childrenQuery(stream.id, withoutUndefined({ chain, entry, find: sought || undefined })),
  );
  const { data: chains = [] } = useQuery(chainsQuery);
  const { data: details } = useQuery(streamQuery(stream));
  const factories = (details && 'factories' in details && details.factories) || [];
  const rows = list.data?.pages.flatMap(({ result }) => result) ?? [];
  const total = list.data?.pages[0]?.total ?? 0;
  const isFiltered = find !== '' || chain !== undefined || entry !== undefined;
  const field = useRef<HTMLInputElement>(null);
  useShortcuts({ '/': () => field.current?.focus() });
  const nameOfChain = (id: string): string => chains.find((each) => each.id === id)?.name ?? id;
  const save = ({ address, label }: StreamChild, next: string): Promise<void> =>
    saveLabel(label, next, async (text) => {
      await sluice.labelChildren(stream.id, { labels: { [address]: text } });
      await queryClient.invalidateQueries({ queryKey: queryKeys.children(stream.id) });
    });

  return (
    <section aria-label="Children" className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-2">
        <SearchField
          ref={field}
          label="Find children"
          value={find}
          onChange={(text) => show({ find: text || undefined }, isTyping(find, text))}
        />
        {stream.chainIds.length > 1 && (
          <Select
            aria-label="Chain"
            value={chain ?? ''}
            onChange={({ target: { value } }) => show({ chain: value || undefined })}
          >
            <option value="">All chains</option>
            {stream.chainIds.map((id) => (
              <option key={id} value={id}>
                {nameOfChain(id)}
              </option>
            ))}
          </Select>
        )}
        {factories.length > 1 && (
          <Select
            aria-label="Factory"
            className="max-w-full"
            value={entry ?? ''}
            onChange={({ target: { value } }) =>
              show({ entry: value === '' ? undefined : Number(value) })
            }
          >
            <option value="">All factories</option>
            {factories.map((factory, position) => (
              <option key={position} value={position}>
                {position + 1}: {describeFactory(factory)}
              </option>
            ))}
          </Select>
        )}
        {list.isSuccess && <p className="data">{formatQuantity(total, 'child', 'children')}</p>}
      </div>
      {list.isError && (
        <ErrorPanel
          what="Couldn't load children"
          error={list.error}
          onRetry={() => void (rows.length > 0 ? list.fetchNextPage() : list.refetch())}
          stale={rows.length > 0}
        />
      )}
      {list.isPending && <Loading className="p-4" />}
      {list.isSuccess && rows.length === 0 && (
        <NoChildren
          isFiltered={isFiltered}
          onShowAll={() => show({ find: undefined, chain: undefined, entry: undefined })}
        />
      )}
      {rows.length > 0 && (
        <ChildTable
          rows={rows}
          nameOfChain={nameOfChain}
          hasMore={list.hasNextPage && !list.isFetchingNextPage && !list.isError}
          onMore={() => void list.fetchNextPage()}
          onLabel={save}
        />
      )}
    </section>
  );
}

function NoChildren({ isFiltered, onShowAll }: { isFiltered: boolean; onShowAll: () => void }) {
  if (isFiltered) {
    return (
      <div className="px-4 py-6">
        <p className="font-medium">No results</p>
        <p className="mt-1 text-muted">
          Search by label, or by the start and end of an address, such as 0x28C6…1d60.
        </p>
        <Button className="mt-3" onClick={onShowAll}>
          Show all children
        </Button>
      </div>
    );
  }
  return (
    <div className="px-4 py-6">
      <p className="font-medium">No children yet</p>
      <p className="mt-1 text-muted">
        Contracts that the factories create are listed here, from the first block with their
        address. Coverage shows searches of past blocks.
      </p>
      <p className="mt-3 flex gap-2">
        <Link
          from="/streams/$streamId"
          to="/streams/$streamId"
          search={{ tab: 'coverage' }}
          className={buttonClass('plain')}
        >
          Open coverage
        </Link>
        <Link
          from="/streams/$streamId"
          to="/streams/$streamId"
          search={{ tab: 'rules' }}
          className={buttonClass('plain')}
        >
          Edit factories
        </Link>
      </p>
    </div>
  );
}
