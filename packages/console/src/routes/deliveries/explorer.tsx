import type { UseMutationResult } from '@tanstack/react-query';
import { ArrowUp, ArrowUpToLine } from 'lucide-react';
import { lazy, Suspense, useRef } from 'react';
import { findRow, KEPT_ROWS } from '../../data/live/liveCache.ts';
import { toListFilter, type DeliveriesSearch } from '../../data/search.ts';
import { useLoading } from '../../ui/keys/heldKeys.ts';
import { Button } from '../../ui/button.tsx';
import { TaskStrip, useTask } from '../../ui/task.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { nameFilter } from '../../words/filterWords.ts';
import { nameOfStreamId } from '../../words/names.ts';
import { ReplayDialog } from '../replays/new/replayDialog.tsx';
import { useExplorer, type Scope } from './explorerState.ts';
import { ExportButton } from './export/exportButton.tsx';
import { ActionWord } from './filters/actionWord.tsx';
import { DeliveryFilters } from './filters/deliveryFilters.tsx';
import { BodyFilter } from './filters/bodyFilter.tsx';
import { FilterCounts } from './filters/filterCounts.tsx';
import { ViewList } from './filters/viewList.tsx';
import { DeliveryTable, type DeliveryTableHandle } from './list/deliveryTable.tsx';
import { NoDeliveries } from './list/noDeliveries.tsx';

const Inspector = lazy(async () => ({
  default: (await import('../delivery/inspector.tsx')).Inspector,
}));

const ALL = {};

/**
 * Lists deliveries live, with an inspector next to the list. The filter, the open delivery and the
 * inspector's tab are search params of the page.
 */
export function DeliveryExplorer({
  search,
  onSearch,
  of = ALL,
  first,
  onAway,
}: {
  search: DeliveriesSearch;
  onSearch: (search: DeliveriesSearch, replace: boolean) => void;
  /** Fixed filter that is not part of the search params. */
  of?: Scope;
  /** Content to show instead of an empty list if no filter is active. */
  first?: React.ReactNode;
  /** Reports whether the user has scrolled far down the list, which then needs more space. */
  onAway?: (isAway: boolean) => void;
}) {
  const { sel, view, until } = search;
  const table = useRef<DeliveryTableHandle>(null);
  const tasks = useTask();
  const {
    filter,
    streams,
    stream,
    chains,
    list,
    rows,
    pairOf,
    isSearching,
    held,
    marks,
    newer,
    ...explorer
  } = useExplorer({ search, onSearch, of, table });
  const { actions, replaying, beginAnew, goTo } = explorer;
  const selected = findRow(rows, sel);
  const searchedTo = list.data?.pages.at(-1)?.searchedTo;

  return (
    <div className="flex h-full min-h-0">
      {actions.list}
      {explorer.filterPane.draw(
        <>
          <ViewList search={{ ...search, ...of }} onChoose={beginAnew} />
          <BodyFilter
            key={search.body}
            query={search.body ?? ''}
            onSearch={(body) => {
              beginAnew();
              explorer.change({ body }, false);
            }}
          />
          <FilterCounts
            filter={filter}
            search={search}
            streams={of.stream === undefined ? streams : null}
            stream={stream}
            chains={chains}
            onChoose={beginAnew}
            onRange={goTo}
          />
        </>,
      )}
      <section
        aria-label="Deliveries"
        className="@container/explorer relative flex min-w-0 flex-1 flex-col"
      >
        <DeliveryFilters
          search={search}
          streams={streams}
          stream={stream}
          chains={chains}
          onRemove={(name) => {
            beginAnew();
            explorer.change({ [name]: undefined }, false);
          }}
          onSearch={
            of.q === undefined
              ? (text) => {
                  beginAnew();
                  explorer.change({ q: text }, false);
                }
              : null
          }
          marked={marks.size}
          onUnmark={explorer.clearMarks}
          onFilter={explorer.filterPane.open}
          held={held.held}
          onHold={held.hold}
          onReplay={explorer.replay}
        >
          {until !== undefined && (
            <TowardsNewest newer={newer} onNewest={() => goTo({ until: undefined })} />
          )}
          <ExportButton filter={filter} tasks={tasks} />
        </DeliveryFilters>
        <TaskStrip tasks={tasks} />
        {list.isError && (
          <ErrorPanel
            what="Couldn't load deliveries"
            error={list.error}
            onRetry={() => void (list.isFetchNextPageError ? list.fetchNextPage() : list.refetch())}
            stale={list.data !== undefined}
          />
        )}
        {actions.problems}
        <NewerProblem newer={newer} />
        <div className="relative flex min-h-0 flex-1 flex-col">
          <DeliveryTable
            ref={table}
            rows={explorer.shown}
            pairOf={pairOf}
            streams={streams}
            chains={chains}
            loading={list.isPending || (isSearching && rows.length === 0)}
            selected={sel}
            marks={marks}
            hrefOf={explorer.hrefOf}
            onSelect={explorer.open}
            onMark={explorer.onMark}
            ofOneStream={of.stream !== undefined}
            more={
              list.hasNextPage && rows.length < KEPT_ROWS
                ? {
                    load: () => void list.fetchNextPage(),
                    loading: list.isFetchingNextPage,
                    searchedTo,
                  }
                : null
            }
            onScrolled={(away, isLong) => {
              held.onScrolled(away);
              // A short list would no longer scroll if it got more space.
              onAway?.(away && isLong);
            }}
            onUsed={held.onUsed}
            empty={
              first !== undefined && Object.keys(toListFilter(search)).length === 0 ? (
                first
              ) : (
                <NoDeliveries
                  isIncomplete={list.hasNextPage}
                  filter={filter}
                  search={search}
                  streams={streams}
                  chains={chains}
                  onChoose={beginAnew}
                  onClear={() => onSearch({}, false)}
                />
              )
            }
          />
          {held.waiting > 0 && <Waiting count={held.waiting} onClick={held.showNewest} />}
        </div>
      </section>
      {replaying !== null && (
        <ReplayDialog
          title="Replay deliveries"
          filter={replaying}
          stream={stream}
          name={
            replaying.id === undefined
              ? nameFilter(replaying, (id) => nameOfStreamId(id, streams))
              : 'selected'
          }
          onClose={explorer.endReplaying}
        />
      )}
      {sel !== undefined && (
        <Suspense fallback={<InspectorPlaceholder />}>
          <Inspector
            key={sel}
            id={sel}
            summary={selected}
            pair={selected && pairOf(selected)}
            view={view}
            filter={explorer.filterSearch}
            onView={(next) => explorer.change({ view: next }, true)}
            onClose={explorer.close}
          />
        </Suspense>
      )}
    </div>
  );
}

/** Shows buttons that move a list of past deliveries to newer ones, or to the newest delivery. */
function TowardsNewest({
  newer: { isPending, mutate },
  onNewest,
}: {
  newer: Pick<UseMutationResult<unknown, Error, void>, 'isPending' | 'mutate'>;
  onNewest: () => void;
}) {
  return (
    <>
      <Button variant="quiet" disabled={isPending} onClick={() => mutate()}>
        <ArrowUp size={14} strokeWidth={1.5} aria-hidden="true" />
        <ActionWord>Newer</ActionWord>
      </Button>
      <Button variant="quiet" onClick={onNewest}>
        <ArrowUpToLine size={14} strokeWidth={1.5} aria-hidden="true" />
        <ActionWord>Newest</ActionWord>
      </Button>
    </>
  );
}

function NewerProblem({
  newer: { isError, error, mutate },
}: {
  newer: Pick<UseMutationResult<unknown, Error, void>, 'isError' | 'error' | 'mutate'>;
}) {
  return (
    isError && (
      <ErrorPanel
        what="Couldn't load newer deliveries"
        error={error}
        onRetry={() => mutate()}
        stale
      />
    )
  );
}

/** Shows how many new deliveries are above the listed rows. A click shows them. */
function Waiting({ count, onClick }: { count: number; onClick: () => void }) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="control absolute top-2 left-1/2 z-10 -translate-x-1/2 animate-overlay rounded-full border border-line bg-raised px-3 text-12 shadow-overlay md:top-0.5"
    >
      <span className="data text-accent">{count}</span> new ↑
    </button>
  );
}

function InspectorPlaceholder() {
  useLoading();
  return <div className="w-[44%] border-l border-line bg-surface max-md:hidden" />;
}
