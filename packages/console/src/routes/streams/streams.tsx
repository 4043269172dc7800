import { UNDELIVERED } from '@sluice/kit/contract';
import type { DeliveryFilter } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Navigate, useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useRef, useState } from 'react';
import { useFleet, useRecentDeliveries } from '../../data/fleet.ts';
import { chainsQuery } from '../../data/queries/chains.ts';
import { streamsQuery } from '../../data/queries/streams.ts';
import { isTyping, parseStreamsSearch } from '../../data/search.ts';
import { focusedRow } from '../../ui/keys/actionList.tsx';
import { useShortcuts } from '../../ui/keys/keyboard.ts';
import { useRowMarks } from '../../ui/list/rowMarks.tsx';
import { Loading } from '../../ui/loading.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { nameOfStream } from '../../words/names.ts';
import { FleetStrip } from './fleetStrip.tsx';
import { HealthLine } from './healthLine.tsx';
import { pauseButtonNear, useStreamActions } from './streamActions.tsx';
import { StreamBar, type StreamsSearchChange } from './streamBar.tsx';
import { findStreams } from './streamFilter.ts';
import { StreamTable, type StreamTableHandle } from './streamTable.tsx';

const EmptyStreams = lazy(async () => ({
  default: (await import('./emptyStreams.tsx')).EmptyStreams,
}));

const ReplayDialog = lazy(async () => ({
  default: (await import('../replays/new/replayDialog.tsx')).ReplayDialog,
}));

/** Failed and quarantined deliveries, and deliveries that wait for a retry. */
const WHAT_FAILED: DeliveryFilter = {
  state: UNDELIVERED,
  attemptsFrom: 1,
};

const HINTS = [
  ['j k', 'move'],
  ['↵', 'open'],
  ['space', 'select'],
  ['n', 'new'],
  ['p', 'pause'],
  ['r', 'replay failed'],
  ['/', 'filter'],
  ['?', 'all shortcuts'],
] as const;

/** Lists the streams with the reasons for failures and the state of each chain. */
export function StreamsPage() {
  const search = useSearch({ from: '/frame/' });
  const navigate = useNavigate({ from: '/' });
  const streams = useQuery(streamsQuery);
  const chains = useQuery(chainsQuery);
  const fleet = useFleet();
  const { rows: recent, since } = useRecentDeliveries();
  const hasDeliveries = since === 0 ? recent.length > 0 : undefined;
  const field = useRef<HTMLInputElement>(null);
  const table = useRef<StreamTableHandle>(null);

  const byChain = useMemo(
    () => new Map((chains.data ?? []).map((chain) => [chain.id, chain])),
    [chains.data],
  );
  const byStream = useMemo(() => Map.groupBy(recent, ({ streamId }) => streamId), [recent]);

  const shown = fleet && findStreams(fleet, byChain, search);

  const change = (changes: StreamsSearchChange): void => {
    // Sorting keeps the selection; filtering clears it.
    if (changes.sort === undefined) clearMarks();
    void navigate({
      search: (now) => parseStreamsSearch({ ...now, ...changes }),
      replace: 'q' in changes && isTyping(search.q, changes.q),
    });
  };

  const move = (step: 1 | -1): string | undefined => table.current?.move(step);
  const {
    marks,
    onMark,
    clear: clearMarks,
  } = useRowMarks({
    rows: shown?.map(({ stream }) => stream) ?? [],
    current: focusedRow,
    move,
  });
  const [replaying, setReplaying] = useState<readonly string[] | null>(null);
  /**
   * Opens the dialog to replay failed deliveries of the selected streams or, without a selection,
   * of the focused stream. Returns false if there is neither.
   */
  const replay = (focused = focusedRow()): boolean => {
    const ids = marks.size > 0 ? [...marks] : focused === undefined ? [] : [focused];
    if (ids.length > 0) setReplaying(ids);
    return ids.length > 0;
  };
  useShortcuts({
    '/': () => field.current?.focus(),
    r: () => replay(),
    Escape: () => {
      if (marks.size === 0) return false;
      clearMarks();
      return true;
    },
    p: () => pauseButtonNear(document.activeElement)?.click(),
    j: () => void move(1),
    k: () => void move(-1),
  });

  const tagOf = (id: string): string => {
    const row = fleet?.find(({ stream }) => stream.id === id);
    return row === undefined ? id : nameOfStream(row.stream);
  };
  const actions = useStreamActions({ fleet, marks, onMark, onReplay: replay });

  if (fleet?.length === 0) {
    // Deliveries outlive their streams, so a service without deliveries has probably never had a
    // stream.
    if (hasDeliveries === false) return <Navigate to="/welcome" replace />;
    return (
      <Suspense fallback={<Loading className="p-4" />}>
        <EmptyStreams />
      </Suspense>
    );
  }
  return (
    <div className="min-w-0">
      {actions}
      {chains.isError && (
        <ErrorPanel
          what="Couldn't load chains"
          error={chains.error}
          onRetry={() => void chains.refetch()}
          stale={chains.data !== undefined}
        />
      )}
      {streams.isError && (
        <ErrorPanel
          what="Couldn't load streams"
          error={streams.error}
          onRetry={() => void streams.refetch()}
          stale={streams.data !== undefined}
        />
      )}
      <HealthLine fleet={chains.data && fleet} chains={byChain} />
      <FleetStrip streams={streams.data} chains={chains.data} />
      {/* The list would move when the chains above it appear. */}
      {!chains.isPending && (
        <>
          <StreamBar
            fleet={fleet}
            search={search}
            onSearch={change}
            field={field}
            marked={marks.size}
            onUnmark={clearMarks}
            onReplay={() => void replay()}
          />
          <StreamTable
            ref={table}
            rows={shown}
            isPending={shown === undefined && !streams.isError}
            chains={byChain}
            deliveriesOf={byStream}
            since={since}
            marks={marks}
            onMark={onMark}
          />
        </>
      )}
      {shown !== undefined && <Hints />}
      {replaying !== null && (
        <Suspense>
          <ReplayDialog
            title="Replay failed deliveries"
            filter={{ streamId: [...replaying], ...WHAT_FAILED }}
            name={`failed ${replaying.map(tagOf).join(' ')}`}
            onClose={() => setReplaying(null)}
          />
        </Suspense>
      )}
      {shown?.length === 0 && (
        <p className="px-4 py-6 text-muted">
          No streams match this filter.{' '}
          <button
            type="button"
            className="text-accent underline underline-offset-2"
            onClick={() => void navigate({ search: {} })}
          >
            Show all {fleet?.length}
          </button>
        </p>
      )}
    </div>
  );
}

function Hints() {
  return (
    <p className="flex flex-wrap gap-x-4 px-4 py-2 text-12 text-faint pointer-coarse:hidden">
      {HINTS.map(([keys, does]) => (
        <span key={keys}>
          <span className="data text-muted">{keys}</span> {does}
        </span>
      ))}
    </p>
  );
}
