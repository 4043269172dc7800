import type { Inbox, InboxRequestSummary } from '@sluice/kit/sluice';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { X } from 'lucide-react';
import { useState } from 'react';
import { useBody } from '../../body.ts';
import { inboxRequestQuery, inboxRequestsQuery } from '../../api.ts';
import { formatBytes, formatClock, formatDateTime, formatId } from '../../format.ts';
import { useShortcuts } from '../../keyboard.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copyButton.tsx';
import { ErrorPanel } from '../../ui/errorPanel.tsx';
import { JsonTree } from '../../ui/jsonTree.tsx';
import { useRowWindow } from '../../ui/rowWindow.ts';
import { ScrollText } from '../../ui/scrollText.tsx';
import { Segments } from '../../ui/segments.tsx';
import { Status } from '../../ui/status.tsx';

const ROW_HEIGHT = 36;

const VERIFIED = { shape: 'disc', word: 'signed', tone: 'ok' } as const;
const NOT_VERIFIED = { shape: 'triangle', word: 'not signed', tone: 'bad' } as const;

/** What came into an inbox, newest first, and one of it whole. */
export function InboxRequests({ inbox, selected }: { inbox: Inbox; selected: string | undefined }) {
  const navigate = useNavigate({ from: '/inbox' });
  const list = useInfiniteQuery(inboxRequestsQuery(inbox.name));
  const rows = list.data?.pages.flatMap(({ result }) => result) ?? [];
  const {
    scroller,
    list: ofRows,
    first,
    end,
    style,
    scrollToRow,
  } = useRowWindow<HTMLDivElement, HTMLUListElement>(rows.length, ROW_HEIGHT);
  const show = (id: string | undefined): void => {
    void navigate({
      search: id === undefined ? { name: inbox.name } : { name: inbox.name, sel: id },
      replace: selected !== undefined && id !== undefined,
    });
  };
  const move = (step: 1 | -1): void => {
    const from = rows.findIndex(({ id }) => id === selected);
    const index = Math.max(0, Math.min(rows.length - 1, from + step));
    scrollToRow(index);
    show(rows[index]?.id);
  };
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    Escape: () => {
      if (selected === undefined) return false;
      show(undefined);
      return true;
    },
  });
  return (
    <div className="flex min-h-0 flex-1">
      <section aria-label="Webhooks" className="flex min-w-0 flex-1 flex-col">
        {list.isError && (
          <ErrorPanel
            what="The inbox could not be read"
            error={list.error}
            onRetry={() => void list.refetch()}
            stale={list.data !== undefined}
          />
        )}
        {list.isSuccess && rows.length === 0 && (
          <p className="px-4 py-6 text-muted">
            Nothing here. What a stream sends to this inbox appears at once.
          </p>
        )}
        <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto">
          <ul ref={ofRows} style={style}>
            {rows.slice(first, end).map((row) => (
              <Row key={row.id} row={row} selected={row.id === selected} />
            ))}
          </ul>
          {list.hasNextPage && (
            <div className="px-4 py-2">
              <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
                Show more
              </Button>
            </div>
          )}
        </div>
      </section>
      {selected !== undefined && (
        <RequestView
          key={selected}
          inbox={inbox.name}
          id={selected}
          onClose={() => show(undefined)}
        />
      )}
    </div>
  );
}

function Row({ row, selected }: { row: InboxRequestSummary; selected: boolean }) {
  return (
    <li
      style={{ height: `${ROW_HEIGHT}px` }}
      className={clsx(
        'relative flex items-center gap-4 border-b border-line px-4 hover:bg-raised',
        selected && 'bg-raised shadow-[inset_2px_0_var(--color-accent)]',
      )}
    >
      <Link
        to="/inbox"
        search={{ name: row.inbox, sel: row.id }}
        title={formatDateTime(row.receivedAt)}
        className="data after:absolute after:inset-0"
      >
        {formatClock(row.receivedAt)}
      </Link>
      <Status condition={row.verified ? VERIFIED : NOT_VERIFIED} className="text-12" />
      <span className={clsx('data', row.status >= 300 && 'text-bad')}>{row.status}</span>
      <span className="data text-muted max-sm:hidden">{formatId(row.webhookId)}</span>
      <span className="data ml-auto text-faint">{formatBytes(row.sizeBytes)}</span>
    </li>
  );
}

const VIEWS = [
  { value: 'body', label: 'Body' },
  { value: 'headers', label: 'Headers' },
] as const;

function RequestView({ inbox, id, onClose }: { inbox: string; id: string; onClose: () => void }) {
  const request = useQuery(inboxRequestQuery(inbox, id));
  const [view, setView] = useState<'body' | 'headers'>('body');
  const body = request.data?.body;
  return (
    <section
      aria-label="Webhook"
      className="flex min-w-0 flex-col border-line bg-surface max-md:fixed max-md:inset-x-0 max-md:top-11 max-md:bottom-12 max-md:z-10 md:w-1/2 md:border-l"
    >
      <header className="flex flex-wrap items-center gap-2 border-b border-line py-2 pr-2 pl-4">
        <Segments label="Show" options={VIEWS} value={view} onChange={setView} />
        {request.data !== undefined && (
          <Link
            to="/deliveries/$deliveryId"
            params={{ deliveryId: request.data.webhookId }}
            className="inline-flex min-h-7 items-center text-accent hover:underline"
          >
            Delivery
          </Link>
        )}
        <span className="ml-auto" />
        {body !== undefined && <CopyButton text={body} label="Copy body" iconOnly />}
        <Button look="quiet" square aria-label="Close" title="Close Esc" onClick={onClose}>
          <X size={16} strokeWidth={1.5} aria-hidden="true" />
        </Button>
      </header>
      {request.isError && (
        <ErrorPanel
          what="The webhook could not be read"
          error={request.error}
          onRetry={() => void request.refetch()}
        />
      )}
      {request.data !== undefined &&
        (view === 'headers' ? (
          <dl className="min-h-0 flex-1 overflow-y-auto px-4 py-2">
            {Object.entries(request.data.headers).map(([name, value]) => (
              <div key={name} className="data flex flex-wrap gap-x-3 border-b border-line py-1">
                <dt className="text-muted">{name}</dt>
                <dd className="min-w-0 break-all">{value}</dd>
              </div>
            ))}
          </dl>
        ) : (
          <BodyView text={request.data.body} />
        ))}
    </section>
  );
}

function BodyView({ text }: { text: string }) {
  const body = useBody(text);
  if (body === undefined) return <p className="animate-late p-4 text-faint">Loading</p>;
  return body === null ? (
    <ScrollText label="Body" wrap className="flex-1">
      {text}
    </ScrollText>
  ) : (
    <JsonTree body={body} label="Body" />
  );
}
