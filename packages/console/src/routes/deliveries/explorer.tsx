import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { ArrowUp, ArrowUpToLine } from 'lucide-react';
import {
  lazy,
  Suspense,
  useCallback,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import {
  chainsQuery,
  deliveriesQuery,
  deliveryBodyQuery,
  streamsQuery,
  toDeliveryFilter,
} from '../../api.ts';
import { startBodyWorker } from '../../bodyWorker.ts';
import { createDeliveryPairs } from '../../deliveryPairs.ts';
import { nameFilter } from '../../filterWords.ts';
import { useLoading } from '../../heldKeys.ts';
import { useShortcuts } from '../../keyboard.ts';
import { useMedia } from '../../media.ts';
import type { DeliveryFilter, DeliverySummary } from '@sluice/kit/sluice';
import { findRow, KEPT_ROWS, placeOf, rowsOf } from '../../liveCache.ts';
import {
  parseDeliveriesSearch,
  present,
  toListFilter,
  type DeliveriesSearch,
} from '../../search.ts';
import { nameOfStreamId } from '../../streamName.ts';
import { focusedRow } from '../../ui/actionList.tsx';
import { ErrorPanel } from '../../ui/errorPanel.tsx';
import { Button } from '../../ui/button.tsx';
import { useRowMarks } from '../../ui/rowMarks.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Loading } from '../../ui/loading.tsx';
import { DeliveryFilters, type FilterName } from './deliveryFilters.tsx';
import { Facets } from './facets.tsx';
import { DeliveryTable, type DeliveryTableHandle } from './deliveryTable.tsx';
import { useHeldList } from './heldList.ts';
import { useListPlace } from './listPlace.ts';
import { NoDeliveries } from './noDeliveries.tsx';
import { useRowActions } from './rowActions.tsx';

const Inspector = lazy(async () => ({
  default: (await import('../delivery/inspector.tsx')).Inspector,
}));

const ReplayForm = lazy(async () => ({
  default: (await import('../replays/replayForm.tsx')).ReplayForm,
}));

/** Stands for the id of a row in the link that is the same for all. */
const ANY_ROW = 'row';

const NO_ROWS: DeliverySummary[] = [];

const ALL = {};

/**
 * Deliveries as they happen, and one of them in full beside the list. Filter, selection and tab are
 * search params of the page it stands on.
 */
export function Explorer({
  search,
  onSearch,
  of = ALL,
  first,
}: {
  search: DeliveriesSearch;
  onSearch: (search: DeliveriesSearch, replace: boolean) => void;
  /** Only those of one stream, or of one replay: it is no part of the search. */
  of?: Pick<DeliveriesSearch, 'stream' | 'replay'>;
  /** Stands in place of the rows until there is a first one. */
  first?: React.ReactNode;
}) {
  const filter = toListFilter({ ...search, ...of });
  const list = useInfiniteQuery(deliveriesQuery(filter));
  const { data: streams } = useQuery(streamsQuery);
  const { data: chains } = useQuery(chainsQuery);

  const rows = useMemo(() => (list.data === undefined ? NO_ROWS : rowsOf(list.data)), [list.data]);
  const [pairs] = useState(createDeliveryPairs);
  // The rows are drawn before they are searched for pairs.
  const isDrawn = useDeferredValue(true, false);
  const pairOf = useMemo(() => pairs.follow(isDrawn ? rows : NO_ROWS), [pairs, isDrawn, rows]);

  const table = useRef<DeliveryTableHandle>(null);
  const { shown, waiting, held, hold, showNewest, onScrolled, release } = useHeldList(rows, table);
  const facets = useRef<HTMLDivElement>(null);
  const [cursor, setCursor] = useState<string | null>(null);

  const change = (
    changes: { [K in keyof DeliveriesSearch]: string | undefined },
    replace: boolean,
  ): void => onSearch(parseDeliveriesSearch({ ...search, ...changes }), replace);
  /** What the filter finds is another list. */
  const beginAnew = (): void => {
    release();
    setCursor(null);
    clearMarks();
    setChoosing(false);
    table.current?.scrollToTop();
  };
  const changeFilter = (name: FilterName, value: undefined): void => {
    beginAnew();
    change({ [name]: value }, true);
  };
  const goUntil = (until: number | undefined, replace = false): void => {
    beginAnew();
    onSearch(present<DeliveriesSearch>({ ...search, until }), replace);
  };

  const newer = useListPlace({
    filter,
    rows,
    isRead: list.isSuccess,
    selected: search.sel,
    scrollToRow: (id) => table.current?.scrollToRow(id),
    onUntil: (until, how) => goUntil(until, how === 'placed'),
  });

  const close = (): void => {
    if (search.sel !== undefined) table.current?.focusRow(search.sel);
    change({ sel: undefined, view: undefined }, false);
  };

  const current = search.sel ?? cursor ?? undefined;

  /** @returns the row that is now the one the keys mean. */
  const move = (step: 1 | -1): string | undefined => {
    const from = findRow(shown, current);
    const index = from === undefined ? 0 : placeOf(shown, from.id) + step;
    if (index < 0 && search.until !== undefined) newer.mutate();
    const next = shown[Math.max(0, Math.min(shown.length - 1, index))];
    if (next === undefined) return undefined;
    setCursor(next.id);
    // With the inspector open, the next row is inspected; else it is only focused.
    if (search.sel === undefined) table.current?.focusRow(next.id);
    else {
      table.current?.scrollToRow(next.id);
      change({ sel: next.id }, true);
    }
    return next.id;
  };
  const {
    marks,
    onMark,
    clear: clearMarks,
  } = useRowMarks({ rows: shown, current: () => current, move });
  const navigate = useNavigate();
  // It is there when the first body is asked for.
  useEffect(() => void startBodyWorker(), []);
  const queryClient = useQueryClient();
  const onSelect = useCallback(
    (id: string) => {
      // It comes while the inspector is drawn.
      void queryClient.prefetchQuery(deliveryBodyQuery(id));
      void navigate({ to: '.', search: (now) => ({ ...now, sel: id }) });
    },
    [navigate, queryClient],
  );
  // Made once for all rows: a link of the router's own asks it anew for each.
  const { publicHref: href } = useRouter().buildLocation({
    to: '.',
    search: (now) => ({ ...now, sel: ANY_ROW }),
  });
  const hrefOf = (id: string): string => href.replace(`sel=${ANY_ROW}`, `sel=${id}`);
  const selected = findRow(rows, search.sel);
  const { sel: _sel, view: _view, until: _until, ...ofList } = search;
  const filterSearch = { ...ofList, ...of };
  const mayReplay = Object.keys(filter).length > 0 || marks.size > 0;
  /** What was chosen when it was opened: time goes on, the selection does not. */
  const [replaying, setReplaying] = useState<DeliveryFilter | null>(null);
  const replay = (): void =>
    setReplaying(marks.size > 0 ? { id: [...marks] } : toDeliveryFilter(filter));
  // Beside the list where both have room, else in a dialog.
  const isWide = useMedia('(min-width: 1240px)');
  const isVeryWide = useMedia('(min-width: 1720px)');
  const isBeside = search.sel === undefined ? isWide : isVeryWide;
  const [choosing, setChoosing] = useState(false);
  const choices = (
    <Facets
      filter={filter}
      search={search}
      streams={of.stream === undefined ? (streams ?? []) : null}
      chains={chains ?? []}
      onChoose={beginAnew}
      onUntil={goUntil}
    />
  );
  useShortcuts({
    j: () => void move(1),
    k: () => void move(-1),
    l: () => hold(!held),
    // With a delivery open it is about that one.
    r: () => {
      if (search.sel !== undefined) return false;
      if (mayReplay) replay();
      return true;
    },
    '/': () => {
      const first = facets.current?.querySelector<HTMLElement>('a');
      if (first) first.focus();
      else setChoosing(true);
    },
    Escape: () => {
      if (search.sel !== undefined) close();
      else if (marks.size > 0) clearMarks();
      else return false;
      return true;
    },
  });

  const actions = useRowActions({
    // With a delivery open the keys are about that one.
    focused: () => (search.sel === undefined ? findRow(shown, focusedRow()) : undefined),
    ofList: filterSearch,
    marks,
    onOpen: onSelect,
    onMark,
    onReplay: mayReplay ? replay : null,
  });

  return (
    <div className="flex h-full min-h-0">
      {actions.list}
      {isBeside && (
        <div ref={facets} className="w-52 shrink-0 overflow-y-auto border-r border-line">
          {choices}
        </div>
      )}
      <section aria-label="Deliveries" className="relative flex min-w-0 flex-1 flex-col">
        <DeliveryFilters
          search={search}
          streams={streams ?? []}
          chains={chains ?? []}
          onChange={changeFilter}
          marked={marks.size}
          onUnmark={clearMarks}
          onFilter={isBeside ? null : () => setChoosing(true)}
          held={held}
          onHold={hold}
          onReplay={mayReplay ? replay : null}
        >
          {search.until !== undefined && (
            <>
              <Button look="quiet" disabled={newer.isPending} onClick={() => newer.mutate()}>
                <ArrowUp size={14} strokeWidth={1.5} aria-hidden="true" />
                Newer
              </Button>
              <Button look="quiet" onClick={() => goUntil(undefined)}>
                <ArrowUpToLine size={14} strokeWidth={1.5} aria-hidden="true" />
                Newest
              </Button>
            </>
          )}
        </DeliveryFilters>
        {list.isError && (
          <ErrorPanel
            what="The deliveries could not be read"
            error={list.error}
            onRetry={() => void (list.isFetchNextPageError ? list.fetchNextPage() : list.refetch())}
            stale={list.data !== undefined}
          />
        )}
        {actions.problems}
        {newer.isError && (
          <ErrorPanel
            what="The newer deliveries could not be read"
            error={newer.error}
            onRetry={() => newer.mutate()}
            stale
          />
        )}
        <div className="relative flex min-h-0 flex-1 flex-col">
          <DeliveryTable
            ref={table}
            rows={shown}
            pairOf={pairOf}
            chains={chains ?? []}
            loading={list.isPending}
            selected={search.sel}
            marks={marks}
            hrefOf={hrefOf}
            onSelect={onSelect}
            onMark={onMark}
            ofOneStream={of.stream !== undefined}
            more={
              list.hasNextPage && rows.length < KEPT_ROWS
                ? { load: () => void list.fetchNextPage(), loading: list.isFetchingNextPage }
                : null
            }
            onScrolled={onScrolled}
            empty={
              first !== undefined && Object.keys(toListFilter(search)).length === 0 ? (
                first
              ) : (
                <NoDeliveries
                  filter={filter}
                  search={search}
                  streams={streams ?? []}
                  chains={chains ?? []}
                  onChoose={beginAnew}
                  onClear={() => onSearch({}, false)}
                />
              )
            }
          />
          {waiting > 0 && (
            <button
              type="button"
              onClick={showNewest}
              className="control absolute top-2 left-1/2 z-10 -translate-x-1/2 animate-overlay rounded-full border border-line bg-raised px-3 text-12 shadow-overlay md:top-10"
            >
              <span className="data text-accent">{waiting}</span> new ↑
            </button>
          )}
        </div>
      </section>
      {choosing && !isBeside && (
        <Dialog title="Filter" onClose={() => setChoosing(false)}>
          <div className="-m-4">{choices}</div>
        </Dialog>
      )}
      {replaying !== null && (
        <Dialog title="Replay deliveries" onClose={() => setReplaying(null)}>
          <Suspense fallback={<Loading />}>
            <ReplayForm
              filter={replaying}
              name={
                replaying.id === undefined
                  ? nameFilter(replaying, (id) => nameOfStreamId(id, streams))
                  : 'marked'
              }
            />
          </Suspense>
        </Dialog>
      )}
      {search.sel !== undefined && (
        <Suspense fallback={<InspectorPlaceholder />}>
          <Inspector
            key={search.sel}
            id={search.sel}
            summary={selected}
            pair={selected && pairOf(selected)}
            view={search.view}
            filter={filterSearch}
            onView={(view) => change({ view }, true)}
            onClose={close}
          />
        </Suspense>
      )}
    </div>
  );
}

/** The inspector's place while its code arrives. */
function InspectorPlaceholder() {
  useLoading();
  return <div className="w-[46%] border-l border-line bg-surface max-md:hidden" />;
}
