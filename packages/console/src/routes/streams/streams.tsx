import { useQuery } from '@tanstack/react-query';
import { Link, Navigate, useNavigate, useSearch } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { Plus } from 'lucide-react';
import { lazy, Suspense, useMemo, useRef } from 'react';
import { chainsQuery, streamsQuery } from '../../api.ts';
import { isFailing, useFleet, useRecentDeliveries, type FleetStream } from '../../fleet.ts';
import { useShortcuts } from '../../keyboard.ts';
import { parseStreamsSearch, type StreamsSearch } from '../../search.ts';
import { focusedRow, useActions } from '../../ui/actionList.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { ErrorPanel } from '../../ui/errorPanel.tsx';
import { useRowKeys } from '../../ui/rowKeys.ts';
import { SearchField } from '../../ui/searchField.tsx';
import { FleetStrip } from './fleetStrip.tsx';
import { StreamRow, StreamRowSkeleton } from './streamRow.tsx';

const EmptyStreams = lazy(async () => ({
  default: (await import('./emptyStreams.tsx')).EmptyStreams,
}));

const SKELETON_ROWS = 6;

const HINTS = [
  ['j k', 'move'],
  ['↵', 'open'],
  ['n', 'new'],
  ['p', 'pause'],
  ['/', 'filter'],
  ['?', 'all shortcuts'],
] as const;

const SHOWS: {
  show: StreamsSearch['show'];
  label: string;
  passes: (row: FleetStream) => boolean;
}[] = [
  { show: undefined, label: 'All', passes: () => true },
  { show: 'failing', label: 'Failing', passes: isFailing },
  { show: 'paused', label: 'Paused', passes: ({ stream }) => stream.status === 'paused' },
];

const mentions = ({ stream }: FleetStream, codes: string[], words: string[]): boolean => {
  const text = [stream.tag, stream.description, stream.webhookUrl, stream.id, ...codes]
    .join(' ')
    .toLowerCase();
  return words.every((word) => text.includes(word));
};

/** The overview is the list: what runs, what fails and why, and how far each chain is. */
export function StreamsPage() {
  const { q, show } = useSearch({ from: '/frame/' });
  const navigate = useNavigate({ from: '/' });
  const streams = useQuery(streamsQuery);
  const chains = useQuery(chainsQuery);
  const fleet = useFleet();
  const { rows: recent, since } = useRecentDeliveries();
  const hasDeliveries = since === 0 ? recent.length > 0 : undefined;
  const search = useRef<HTMLInputElement>(null);
  const table = useRef<HTMLTableElement>(null);

  const byChain = useMemo(
    () => new Map((chains.data ?? []).map((chain) => [chain.id, chain])),
    [chains.data],
  );
  const byStream = useMemo(() => Map.groupBy(recent, ({ streamId }) => streamId), [recent]);

  const words = (q ?? '').toLowerCase().split(/\s+/);
  const shown = fleet
    ?.filter(SHOWS.find((each) => each.show === show)?.passes ?? (() => true))
    .filter((row) =>
      mentions(
        row,
        row.stream.chainIds.map((id) => byChain.get(id)?.code ?? id),
        words,
      ),
    );

  const change = (search: Record<keyof StreamsSearch, string | undefined>): void => {
    void navigate({ search: parseStreamsSearch(search), replace: true });
  };

  useRowKeys(table);
  useShortcuts({
    '/': () => search.current?.focus(),
    p: () => table.current?.querySelector<HTMLElement>('tbody:focus-within [data-pause]')?.click(),
  });

  const actions = useActions(() => {
    const id = focusedRow();
    const stream = fleet?.find((row) => row.stream.id === id)?.stream;
    if (stream === undefined) return null;
    const params = { streamId: stream.id };
    const pause = table.current?.querySelector<HTMLElement>('tbody:focus-within [data-pause]');
    return {
      of: stream.tag || stream.description || stream.id,
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
      <Suspense>
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
                change({ q, show: value });
              }}
              className="control flex items-center gap-1.5 rounded-control px-2 text-12 text-muted hover:text-text aria-pressed:bg-raised aria-pressed:text-text"
            >
              {label}
              <span
                className={clsx(
                  'data',
                  label === 'Failing' && fleet?.some(isFailing) && 'text-bad',
                )}
              >
                {fleet?.filter(passes).length ?? '–'}
              </span>
            </button>
          ))}
        </fieldset>
        <SearchField
          ref={search}
          label="Filter streams"
          value={q ?? ''}
          onChange={(value) => {
            change({ q: value, show });
          }}
        />
        <Link to="/streams/new" className={clsx(buttonClass('primary'), 'ml-auto')}>
          <Plus size={14} strokeWidth={1.5} aria-hidden="true" />
          New stream
          <kbd aria-hidden="true" className="font-mono text-11 pointer-coarse:hidden">
            n
          </kbd>
        </Link>
      </div>
      <table ref={table} className="w-full border-collapse">
        <caption className="sr-only">Streams</caption>
        <thead>
          <tr className="h-8 border-b border-line text-left">
            <th scope="col" className="caps w-8 pl-4 md:w-28">
              <span className="max-md:sr-only">State</span>
            </th>
            <th scope="col" className="caps w-full px-2">
              Stream
            </th>
            <th scope="col" className="caps px-2 max-md:hidden">
              Chains
            </th>
            <th scope="col" className="caps px-2 whitespace-nowrap max-lg:hidden">
              Last 60 blocks
            </th>
            <th scope="col" className="caps px-2 whitespace-nowrap max-lg:hidden">
              Last 24 h
            </th>
            <th scope="col" className="caps px-2 text-right whitespace-nowrap max-sm:hidden">
              Delivered
            </th>
            <th scope="col" className="caps px-2 text-right whitespace-nowrap">
              Failed
            </th>
            <th scope="col" className="caps px-2 text-right max-md:hidden">
              p95
            </th>
            <th scope="col" className="caps px-2 text-right max-sm:hidden">
              Queue
            </th>
            <th scope="col" className="caps px-2 text-right max-sm:hidden">
              Last
            </th>
            <th scope="col" className="w-12 pr-2">
              <span className="sr-only">Pause or resume</span>
            </th>
          </tr>
        </thead>
        {shown === undefined
          ? !streams.isError &&
            Array.from({ length: SKELETON_ROWS }, (_, index) => <StreamRowSkeleton key={index} />)
          : shown.map((row) => (
              <StreamRow
                key={row.stream.id}
                row={row}
                chains={byChain}
                deliveries={byStream.get(row.stream.id) ?? []}
                since={since}
              />
            ))}
      </table>
      {shown !== undefined && (
        <p className="flex flex-wrap gap-x-4 px-4 py-2 text-12 text-faint pointer-coarse:hidden">
          {HINTS.map(([keys, does]) => (
            <span key={keys}>
              <span className="data text-muted">{keys}</span> {does}
            </span>
          ))}
        </p>
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
