import { UNDELIVERED } from '@sluice/kit/contract';
import type { DeliveryFilter } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link, Navigate, useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { Plus, RotateCw, X } from 'lucide-react';
import { lazy, Suspense, useMemo, useRef, useState } from 'react';
import { chainsQuery, streamsQuery } from '../../api.ts';
import { isFailing, useFleet, useRecentDeliveries, type FleetStream } from '../../fleet.ts';
import { useShortcuts } from '../../keyboard.ts';
import { parseStreamsSearch, STREAM_SORTS, type StreamsSearch } from '../../search.ts';
import { nameOfStream } from '../../streamName.ts';
import { sortStreams } from '../../streamOrder.ts';
import { focusedRow, useActions } from '../../ui/actionList.tsx';
import { Button, buttonClass, Keycap } from '../../ui/button.tsx';
import { copyActions, useCopyKeys, type Copies } from '../../ui/copyKeys.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorPanel } from '../../ui/errorPanel.tsx';
import { Select } from '../../ui/field.tsx';
import { Loading } from '../../ui/loading.tsx';
import { useRowMarks } from '../../ui/rowMarks.tsx';
import { SearchField } from '../../ui/searchField.tsx';
import type { WatchedChain } from '../../tape.ts';
import { FleetStrip } from './fleetStrip.tsx';
import { StreamTable, type StreamTableHandle } from './streamTable.tsx';

const EmptyStreams = lazy(async () => ({
  default: (await import('./emptyStreams.tsx')).EmptyStreams,
}));

const ReplayForm = lazy(async () => ({
  default: (await import('../replays/replayForm.tsx')).ReplayForm,
}));

/** Given up, or waiting to be tried again. */
const WHAT_FAILED: DeliveryFilter = {
  state: UNDELIVERED,
  attemptsFrom: 1,
};

const isInTrouble = (row: FleetStream): boolean => isFailing(row) || row.down.length > 0;

const HINTS = [
  ['j k', 'move'],
  ['↵', 'open'],
  ['space', 'mark'],
  ['n', 'new'],
  ['p', 'pause'],
  ['r', 'replay what failed'],
  ['/', 'filter'],
  ['?', 'all shortcuts'],
] as const;

const SHOWS: {
  show: StreamsSearch['show'];
  label: string;
  passes: (row: FleetStream) => boolean;
}[] = [
  { show: undefined, label: 'All', passes: () => true },
  { show: 'failing', label: 'Failing', passes: isInTrouble },
  { show: 'paused', label: 'Paused', passes: ({ stream }) => stream.status === 'paused' },
];

/** Words are found anywhere; `chain:base` and `tag:deposits` only there. */
const mentions = (
  { stream }: FleetStream,
  chains: readonly WatchedChain[],
  words: string[],
): boolean => {
  const chain = chains.flatMap(({ id, code, name }) => [id, code, name]).join(' ');
  const places: Record<string, string> = { chain, tag: stream.tag };
  const all = [stream.tag, stream.description, stream.webhookUrl, stream.id, chain].join(' ');
  return words.every((word) => {
    const [, place = '', wanted = word] = /^(chain|tag):(.*)$/.exec(word) ?? [];
    return (places[place] ?? all).toLowerCase().includes(wanted.replaceAll('*', ''));
  });
};

const pauseOfFocused = (): HTMLElement | null =>
  document.querySelector('[data-row]:focus-within [data-pause]');

/** The overview is the list: what runs, what fails and why, and how far each chain is. */
export function StreamsPage() {
  const { q, show, sort } = useSearch({ from: '/frame/' });
  const navigate = useNavigate({ from: '/' });
  const streams = useQuery(streamsQuery);
  const chains = useQuery(chainsQuery);
  const fleet = useFleet();
  const { rows: recent, since } = useRecentDeliveries();
  const hasDeliveries = since === 0 ? recent.length > 0 : undefined;
  const search = useRef<HTMLInputElement>(null);
  const table = useRef<StreamTableHandle>(null);

  const byChain = useMemo(
    () => new Map((chains.data ?? []).map((chain) => [chain.id, chain])),
    [chains.data],
  );
  const byStream = useMemo(() => Map.groupBy(recent, ({ streamId }) => streamId), [recent]);

  const words = (q ?? '').toLowerCase().split(/\s+/);
  const passing = fleet
    ?.filter(SHOWS.find((each) => each.show === show)?.passes ?? (() => true))
    .filter((row) =>
      mentions(
        row,
        row.stream.chainIds.flatMap((id) => byChain.get(id) ?? []),
        words,
      ),
    );
  const shown = passing && sortStreams(passing, sort);

  const change = (changes: { [K in keyof StreamsSearch]: string | undefined }): void => {
    // What is listed then is another list; in another order it is the same.
    if (changes.sort === undefined) clearMarks();
    void navigate({
      search: (now) => parseStreamsSearch({ ...now, ...changes }),
      replace: true,
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
  /** Of the streams that are marked, else of the one that has the focus. */
  const replay = (): boolean => {
    const focused = focusedRow();
    const ids = marks.size > 0 ? [...marks] : focused === undefined ? [] : [focused];
    if (ids.length > 0) setReplaying(ids);
    return ids.length > 0;
  };
  useShortcuts({
    '/': () => search.current?.focus(),
    r: replay,
    Escape: () => {
      if (marks.size === 0) return false;
      clearMarks();
      return true;
    },
    p: () => pauseOfFocused()?.click(),
    j: () => void move(1),
    k: () => void move(-1),
  });

  const router = useRouter();
  const copiesOf = (streamId: string): Copies => {
    const { publicHref } = router.buildLocation({ to: '/streams/$streamId', params: { streamId } });
    return { id: streamId, link: new URL(publicHref, location.href).href };
  };
  useCopyKeys(() => {
    const id = focusedRow();
    return id === undefined ? null : copiesOf(id);
  });
  const tagOf = (id: string): string => {
    const row = fleet?.find(({ stream }) => stream.id === id);
    return row === undefined ? id : nameOfStream(row.stream);
  };
  const actions = useActions(() => {
    const id = focusedRow();
    const stream = fleet?.find((row) => row.stream.id === id)?.stream;
    if (stream === undefined) return null;
    const params = { streamId: stream.id };
    const pause = pauseOfFocused();
    return {
      of: nameOfStream(stream),
      actions: [
        {
          label: 'Open',
          keycap: '↵',
          run: () => void navigate({ to: '/streams/$streamId', params }),
        },
        pause != null && {
          label: stream.status === 'paused' ? 'Resume' : 'Pause',
          keycap: 'p',
          run: () => pause.click(),
        },
        {
          label: marks.has(stream.id) ? 'Take the mark back' : 'Mark',
          keycap: '␣',
          run: () => onMark(stream.id, false),
        },
        {
          label: marks.size > 0 ? `Replay what failed of ${marks.size}…` : 'Replay what failed…',
          keycap: 'r',
          run: () => setReplaying(marks.size > 0 ? [...marks] : [stream.id]),
        },
        ...copyActions(copiesOf(stream.id)),
        {
          label: 'Failed deliveries',
          run: () =>
            void navigate({ to: '/streams/$streamId', params, search: { state: 'failed' } }),
        },
        {
          label: 'Settings',
          run: () =>
            void navigate({ to: '/streams/$streamId', params, search: { tab: 'settings' } }),
        },
      ],
    };
  });

  if (fleet?.length === 0) {
    // Deliveries outlive their streams: without any, nothing was ever watched.
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
          what="The chains could not be read"
          error={chains.error}
          onRetry={() => void chains.refetch()}
          stale={chains.data !== undefined}
        />
      )}
      {streams.isError && (
        <ErrorPanel
          what="The streams could not be read"
          error={streams.error}
          onRetry={() => void streams.refetch()}
          stale={streams.data !== undefined}
        />
      )}
      <FleetStrip streams={streams.data} chains={chains.data} />
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-2">
        <fieldset aria-label="Show" className="flex gap-1">
          {SHOWS.map(({ show: value, label, passes }) => (
            <button
              key={label}
              type="button"
              aria-pressed={show === value}
              onClick={() => {
                change({ show: value });
              }}
              className="control flex items-center gap-1.5 rounded-control px-2 text-12 text-muted hover:text-text aria-pressed:bg-raised aria-pressed:text-text"
            >
              {label}
              <span
                className={clsx(
                  'data',
                  label === 'Failing' && fleet?.some(isInTrouble) && 'text-bad',
                )}
              >
                {fleet?.filter(passes).length ?? '–'}
              </span>
            </button>
          ))}
        </fieldset>
        <Select
          aria-label="Sort streams"
          value={sort ?? ''}
          onChange={(event) => change({ sort: event.target.value })}
        >
          <option value="">Newest stream</option>
          {STREAM_SORTS.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </Select>
        <SearchField
          ref={search}
          label="Filter streams"
          value={q ?? ''}
          onChange={(value) => {
            change({ q: value });
          }}
        />
        {marks.size > 0 && (
          <span className="flex gap-2">
            <Button aria-label={`${marks.size} marked, take back`} onClick={clearMarks}>
              <span className="data">{marks.size}</span> marked
              <X size={12} strokeWidth={1.5} aria-hidden="true" />
            </Button>
            <Button onClick={replay}>
              <RotateCw size={14} strokeWidth={1.5} aria-hidden="true" />
              Replay what failed…
              <Keycap>r</Keycap>
            </Button>
          </span>
        )}
        <Link to="/streams/new" className={clsx(buttonClass('primary'), 'ml-auto')}>
          <Plus size={14} strokeWidth={1.5} aria-hidden="true" />
          New stream
          <kbd aria-hidden="true" className="font-mono text-11 pointer-coarse:hidden">
            n
          </kbd>
        </Link>
      </div>
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
      {shown !== undefined && (
        <p className="flex flex-wrap gap-x-4 px-4 py-2 text-12 text-faint pointer-coarse:hidden">
          {HINTS.map(([keys, does]) => (
            <span key={keys}>
              <span className="data text-muted">{keys}</span> {does}
            </span>
          ))}
        </p>
      )}
      {replaying !== null && (
        <Dialog title="Replay what failed" onClose={() => setReplaying(null)}>
          <Suspense fallback={<Loading />}>
            <ReplayForm
              filter={{ streamId: [...replaying], ...WHAT_FAILED }}
              name={`failed ${replaying.map(tagOf).join(' ')}`}
            />
          </Suspense>
        </Dialog>
      )}
      {shown?.length === 0 && (
        <p className="px-4 py-6 text-muted">
          No stream passes this filter.{' '}
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
