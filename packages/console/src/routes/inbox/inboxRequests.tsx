/* oxlint-disable jsx-a11y/prefer-tag-over-role -- a table element would lay out all of its rows together */
import type { Inbox, InboxRequestSummary } from '@sluice/kit/sluice';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { chainsQuery } from '../../data/queries/chains.ts';
import { inboxRequestsQuery } from '../../data/queries/inboxes.ts';
import { PHASE_CONDITIONS } from '../../words/condition.ts';
import { SIGNATURE_CONDITIONS } from './signatureConditions.ts';
import { SECOND_LINE_PX } from '../../ui/list/density.ts';
import { formatBytes, formatCount, formatDateTime, formatRowTime } from '../../ui/text/format.ts';
import { useToday } from '../../ui/text/clock.ts';
import { useShortcuts } from '../../ui/keys/keyboard.ts';
import { useMedia } from '../../ui/media.ts';
import { withoutUndefined, type InboxSearch } from '../../data/search.ts';
import { useTallRowPx, useRowPx, useZone } from '../../ui/preferences.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Loading } from '../../ui/loading.tsx';
import { useRowWindow } from '../../ui/list/rowWindow.ts';
import { Status } from '../../ui/status.tsx';
import { RequestInspector } from './requestInspector.tsx';
import './inboxRequests.css';

const HEADS = [
  { label: 'Time', className: '' },
  { label: 'Status', className: 'text-right' },
  { label: 'Signature', className: '' },
  { label: 'Stream', className: '' },
  { label: 'Summary', className: 'inbox-what' },
  { label: 'Chain', className: 'inbox-chain' },
  { label: 'Block', className: 'inbox-block text-right' },
  { label: 'Phase', className: 'inbox-phase' },
  { label: 'Size', className: 'inbox-size text-right' },
];

/** Lists the requests of an inbox, newest first, with the selected one next to the list. */
export function InboxRequests({ inbox, search }: { inbox: Inbox; search: InboxSearch }) {
  const { sel: selected, view } = search;
  const navigate = useNavigate();
  const list = useInfiniteQuery(inboxRequestsQuery(inbox.name));
  const { data: chains } = useQuery(chainsQuery);
  const isNarrow = useMedia('(max-width: 639.98px)');
  const rowPx = useRowPx();
  const narrowRowPx = useTallRowPx(SECOND_LINE_PX);
  const rows = list.data?.pages.flatMap(({ result }) => result) ?? [];
  const {
    scroller,
    list: ofRows,
    first,
    end,
    style,
    scrollToRow,
  } = useRowWindow<HTMLDivElement, HTMLDivElement>(rows.length, isNarrow ? narrowRowPx : rowPx);
  const show = (next: { [K in keyof InboxSearch]: InboxSearch[K] | undefined }): void => {
    void navigate({
      to: '/inbox/$name',
      params: { name: inbox.name },
      search: withoutUndefined<InboxSearch>({ sel: next.sel, view: next.view }),
      replace: selected !== undefined && next.sel !== undefined,
    });
  };
  /** Focuses a row. Returns false if the row is not rendered. */
  const focusRow = (id: string): boolean => {
    const row = scroller.current?.querySelector<HTMLElement>(`[data-row-link="${id}"]`);
    row?.focus();
    return row instanceof HTMLElement;
  };
  /**
   * Moves to the next or previous request: opens it if a request is already open; otherwise,
   * focuses its row.
   */
  const move = (step: 1 | -1): void => {
    const focused = document.activeElement?.getAttribute('data-row-link');
    const from = rows.findIndex(({ id }) => id === (selected ?? focused));
    const index = Math.max(0, Math.min(rows.length - 1, from + step));
    const id = rows[index]?.id;
    if (id === undefined) return;
    scrollToRow(index);
    if (selected !== undefined) show({ sel: id, view });
    // Focuses the row at once, so that the next key applies to it. A row outside the visible part
    // of the list is rendered only after the scroll, so it is focused in the next frame.
    else if (!focusRow(id)) requestAnimationFrame(() => focusRow(id));
  };
  const close = (): void => {
    if (selected !== undefined) focusRow(selected);
    show({});
  };
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    Escape: () => {
      if (selected === undefined) return false;
      close();
      return true;
    },
  });
  return (
    <div className="flex min-h-0 flex-1">
      <section aria-label="Webhooks" className="inbox-list flex min-w-0 flex-1 flex-col">
        {list.isError && (
          <ErrorPanel
            what="Couldn't load the inbox"
            error={list.error}
            onRetry={() => void list.refetch()}
            stale={list.data !== undefined}
          />
        )}
        {list.isPending && <Loading className="p-4" />}
        {list.isSuccess && rows.length === 0 && (
          <p className="px-4 py-6 text-muted">
            No webhooks yet. Webhooks that a stream sends to {inbox.url} appear here.
          </p>
        )}
        {rows.length > 0 && (
          <div role="table" aria-label="Webhooks" className="flex min-h-0 flex-1 flex-col">
            <div
              role="row"
              className="inbox-grid h-8 shrink-0 border-b border-line px-4 max-sm:sr-only"
            >
              {HEADS.map(({ label, className }) => (
                <span key={label} role="columnheader" className={clsx('caps', className)}>
                  {label}
                </span>
              ))}
            </div>
            <div ref={scroller} role="presentation" className="min-h-0 flex-1 overflow-y-auto">
              <div ref={ofRows} role="rowgroup" style={style}>
                {rows.slice(first, end).map((row) => (
                  <Row
                    key={row.id}
                    row={row}
                    search={view === undefined ? {} : { view }}
                    selected={row.id === selected}
                    chain={
                      chains?.find(({ id }) => id === row.delivery?.chainId)?.code ??
                      row.delivery?.chainId
                    }
                  />
                ))}
              </div>
              {list.hasNextPage && (
                <div className="px-4 py-2">
                  <Button
                    disabled={list.isFetchingNextPage}
                    onClick={() => void list.fetchNextPage()}
                  >
                    Show more
                  </Button>
                </div>
              )}
            </div>
          </div>
        )}
      </section>
      {selected !== undefined && (
        <RequestInspector
          key={selected}
          inbox={inbox.name}
          id={selected}
          view={view}
          onView={(next) => show({ sel: selected, view: next })}
          onClose={close}
        />
      )}
    </div>
  );
}

function Row({
  row,
  search,
  selected,
  chain,
}: {
  row: InboxRequestSummary;
  search: InboxSearch;
  selected: boolean;
  /**
   * Short code of the chain, or its id if the chain is not configured; undefined for a test
   * webhook.
   */
  chain: string | undefined;
}) {
  const { id, inbox, receivedAt, delivery, verified, status, sizeBytes } = row;
  useZone();
  const today = useToday();
  return (
    <div
      role="row"
      aria-current={selected || undefined}
      className={clsx(
        'inbox-grid relative h-row border-b border-line px-4 hover:bg-raised max-sm:h-row-of-two',
        selected && 'bg-raised shadow-[inset_2px_0_var(--color-accent)]',
      )}
    >
      <span role="cell" className="data">
        <Link
          data-row-link={id}
          to="/inbox/$name"
          params={{ name: inbox }}
          search={{ ...search, sel: id }}
          data-tip={`${formatDateTime(receivedAt)} · ${row.webhookId}`}
          className="after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
        >
          {formatRowTime(receivedAt, today)}
        </Link>
      </span>
      <span
        role="cell"
        className={clsx('data text-right', status >= 300 ? 'text-bad' : 'text-muted')}
      >
        {status}
      </span>
      <span role="cell" className="text-12">
        <Status condition={SIGNATURE_CONDITIONS[verified ? 'valid' : 'wrong']} />
      </span>
      <span role="cell" className="truncate" data-cut>
        {delivery === null ? <span className="text-faint">test</span> : delivery.tag || 'no tag'}
      </span>
      <span role="cell" className="inbox-what truncate text-12 text-muted" data-cut>
        {delivery?.about}
      </span>
      <span role="cell" className="data inbox-chain truncate text-muted">
        {chain}
      </span>
      <span role="cell" className="data inbox-block text-right">
        {delivery !== null && formatCount(delivery.blockNumber)}
      </span>
      <span role="cell" className="inbox-phase text-12">
        {delivery !== null && <Status condition={PHASE_CONDITIONS[delivery.phase]} />}
      </span>
      <span role="cell" className="data inbox-size text-right text-faint">
        {formatBytes(sizeBytes)}
      </span>
    </div>
  );
}
