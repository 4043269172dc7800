import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useRef, useState } from 'react';
import { chainsQuery, deliveriesQuery, streamsQuery } from '../api.ts';
import { useShortcuts } from '../keyboard.ts';
import { heldRows, pairsOf, rowsOf } from '../liveCache.ts';
import { parseDeliveriesSearch, type DeliveriesSearch } from '../search.ts';
import { ErrorPanel } from '../ui/errorPanel.tsx';
import { DeliveryFilters } from './deliveryFilters.tsx';
import { DeliveryTable, type DeliveryTableHandle } from './deliveryTable.tsx';

const Inspector = lazy(async () => ({ default: (await import('./inspector.tsx')).Inspector }));

/** Every delivery of every stream, newest first, as it happens. */
export function DeliveriesPage() {
  const search = useSearch({ from: '/frame/deliveries' });
  const navigate = useNavigate({ from: '/deliveries' });
  const filter = useMemo(
    () => ({
      ...(search.state === undefined ? {} : { state: search.state }),
      ...(search.stream === undefined ? {} : { streamId: search.stream }),
    }),
    [search.state, search.stream],
  );
  const list = useInfiniteQuery(deliveriesQuery(filter));
  const { data: streams } = useQuery(streamsQuery);
  const { data: chains } = useQuery(chainsQuery);

  const rows = useMemo(() => (list.data === undefined ? [] : rowsOf(list.data)), [list.data]);
  const pairs = useMemo(() => pairsOf(rows), [rows]);

  // The list stands still below this row while its reader has scrolled, or holds it.
  const [anchor, setAnchor] = useState<{ id: string; createdAt: number } | null>(null);
  const [held, setHeld] = useState(false);
  const { shown, newer } = useMemo(() => heldRows(rows, anchor), [rows, anchor]);
  const table = useRef<DeliveryTableHandle>(null);
  const filters = useRef<HTMLSelectElement>(null);
  const [cursor, setCursor] = useState<string | null>(null);

  const hold = (on: boolean): void => {
    setHeld(on);
    const top = shown[0];
    if (on && anchor === null && top !== undefined) setAnchor(top);
    if (!on) showNewest();
  };
  const showNewest = (): void => {
    setAnchor(held ? (rows[0] ?? null) : null);
    table.current?.scrollToTop();
  };
  const onScrolled = (away: boolean): void => {
    if (held) return;
    const top = shown[0];
    if (away && anchor === null && top !== undefined) setAnchor(top);
    if (!away && anchor !== null) setAnchor(null);
  };

  const change = (changes: Partial<DeliveriesSearch>, replace: boolean): void => {
    void navigate({ search: (now) => ({ ...now, ...changes }), replace });
  };
  const changeFilter = (name: 'state' | 'stream', value: string | undefined): void => {
    setAnchor(null);
    setCursor(null);
    void navigate({
      search: (now) => parseDeliveriesSearch({ ...now, [name]: value }),
      replace: true,
    });
    table.current?.scrollToTop();
  };
  const close = (): void => {
    if (search.sel !== undefined) table.current?.focusRow(search.sel);
    void navigate({
      search: (now) => parseDeliveriesSearch({ ...now, sel: undefined, tab: undefined }),
    });
  };

  const move = (step: 1 | -1): void => {
    const from = shown.findIndex(({ id }) => id === (search.sel ?? cursor));
    const next = shown[Math.max(0, Math.min(shown.length - 1, from + step))];
    if (next === undefined) return;
    setCursor(next.id);
    // With the inspector open, the next row is inspected; else it is only focused.
    if (search.sel === undefined) table.current?.focusRow(next.id);
    else {
      table.current?.scrollToRow(next.id);
      change({ sel: next.id }, true);
    }
  };
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    l: () => hold(!held),
    '/': () => filters.current?.focus(),
    Escape: () => {
      if (search.sel === undefined) return false;
      close();
      return true;
    },
  });

  const filtered = search.state !== undefined || search.stream !== undefined;
  return (
    <div className="flex h-full min-h-0">
      <section aria-label="Deliveries" className="relative flex min-w-0 flex-1 flex-col">
        <DeliveryFilters
          ref={filters}
          search={search}
          streams={streams ?? []}
          onChange={changeFilter}
          held={held}
          onHold={hold}
        />
        {list.isError && (
          <ErrorPanel
            what="The deliveries could not be read"
            error={list.error}
            onRetry={() => void (list.isFetchNextPageError ? list.fetchNextPage() : list.refetch())}
            stale={list.data !== undefined}
          />
        )}
        <DeliveryTable
          ref={table}
          rows={shown}
          pairs={pairs}
          chains={chains ?? []}
          loading={list.isPending}
          selected={search.sel}
          filtered={filtered}
          more={
            list.hasNextPage
              ? { load: () => void list.fetchNextPage(), loading: list.isFetchingNextPage }
              : null
          }
          onScrolled={onScrolled}
          onClear={() => void navigate({ search: {} })}
        />
        {newer > 0 && (
          <button
            type="button"
            onClick={showNewest}
            className="control absolute top-18 left-1/2 z-10 -translate-x-1/2 animate-overlay rounded-full border border-line bg-raised px-3 text-12 shadow-overlay md:top-21 pointer-coarse:top-20"
          >
            <span className="data text-accent">{newer}</span> new ↑
          </button>
        )}
      </section>
      {search.sel !== undefined && (
        <Suspense fallback={<InspectorPlaceholder />}>
          <Inspector
            key={search.sel}
            id={search.sel}
            summary={rows.find(({ id }) => id === search.sel)}
            pair={pairs.get(search.sel)}
            chains={chains ?? []}
            tab={search.tab ?? 'body'}
            onTab={(tab) => change({ tab }, true)}
            onClose={close}
          />
        </Suspense>
      )}
    </div>
  );
}

/** The inspector's place while its code arrives. */
function InspectorPlaceholder() {
  return <div className="w-[46%] border-l border-line bg-surface max-md:hidden" />;
}
