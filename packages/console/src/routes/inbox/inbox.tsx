import type { Inbox } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { SlidersHorizontal, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { inboxesQuery } from '../../data/queries/inboxes.ts';
import { queryKeys, sluice } from '../../data/queries/service.ts';
import { formatCount, formatQuantity } from '../../ui/text/format.ts';
import { describeInbox } from './inboxResponse.ts';
import { DEFAULT_INBOX_URL } from '../../data/inboxes.ts';
import type { InboxSearch } from '../../data/search.ts';
import { useActions } from '../../ui/keys/actionList.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { CallForm } from '../../words/callForm.tsx';
import { CopyButton } from '../../ui/text/copyButton.tsx';
import { copyText } from '../../ui/text/copyText.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Segments } from '../../ui/form/segments.tsx';
import { ResponseForm } from './responseForm.tsx';
import { InboxRequests } from './inboxRequests.tsx';
import { useNamePage } from '../../ui/pageTitle.ts';
import { showToast } from '../../ui/toasts.ts';

/** Shows an inbox, a receiver inside the service: its requests and its response. */
export function InboxPage() {
  return <Inboxes name={undefined} search={useSearch({ from: '/frame/inbox' })} />;
}

export function NamedInboxPage() {
  const { name } = useParams({ from: '/frame/inbox/$name' });
  return <Inboxes name={name} search={useSearch({ from: '/frame/inbox/$name' })} />;
}

function Inboxes({
  name,
  search,
}: {
  /** Name of the selected inbox; undefined selects the first one. */
  name: string | undefined;
  search: InboxSearch;
}) {
  const navigate = useNavigate();
  const inboxes = useQuery(inboxesQuery);
  useNamePage(name ?? '');
  const inbox =
    name === undefined ? inboxes.data?.[0] : inboxes.data?.find((each) => each.name === name);
  return (
    <div className="flex h-full min-h-0 flex-col">
      {inboxes.isError && (
        <ErrorPanel
          what="Couldn't load inboxes"
          error={inboxes.error}
          onRetry={() => void inboxes.refetch()}
          stale={inboxes.data !== undefined}
        />
      )}
      {inboxes.isPending && <Loading className="p-4" />}
      {inboxes.data !== undefined && inboxes.data.length > 1 && (
        <div className="border-b border-line px-2 py-1">
          <Segments
            label="Inbox"
            options={inboxes.data.map((each) => ({
              value: each.name,
              label: (
                <>
                  <span className="max-w-60 min-w-0 truncate" data-cut>
                    {each.name}
                  </span>
                  <span className="data text-faint">{formatCount(each.stored)}</span>
                </>
              ),
            }))}
            value={inbox?.name ?? ''}
            onChange={(next) => void navigate({ to: '/inbox/$name', params: { name: next } })}
          />
        </div>
      )}
      {inboxes.data !== undefined && inbox === undefined && (
        <NoInbox url={name === undefined ? DEFAULT_INBOX_URL : `sluice://inbox/${name}`} />
      )}
      {inbox !== undefined && <InboxView key={inbox.name} inbox={inbox} search={search} />}
    </div>
  );
}

/**
 * Returns a curl command that lists the requests in the inbox, with the API key in
 * `SLUICE_API_KEY`.
 */
const toReadCommand = (name: string): string =>
  `curl -H "x-api-key: $SLUICE_API_KEY" ${location.origin}/sluice/inboxes/${name}/requests`;

const READ_LABEL = 'Copy curl command to read this inbox';

function NoInbox({ url }: { url: string }) {
  return (
    <div className="px-4 py-6">
      <p className="font-medium">No requests yet</p>
      <p className="mt-1 max-w-140 text-muted">
        An inbox is a receiver inside the service, so you need no server or public URL. Use this
        URL, or one with another name, for a stream:
      </p>
      <CopyLine text={url} label="Copy URL" />
      <p className="mt-3 text-muted">Read this inbox from a script:</p>
      <CopyLine text={toReadCommand(url.split('/').at(-1) ?? '')} label={READ_LABEL} />
      <Link to="/streams/new" className={`${buttonClass('primary')} mt-3`}>
        Create a stream for an inbox
      </Link>
    </div>
  );
}

function CopyLine({ text, label }: { text: string; label: string }) {
  return (
    <p className="mt-1 flex min-w-0 items-center gap-1">
      <code className="data min-w-0 break-all">{text}</code>
      <CopyButton text={text} label={label} iconOnly />
    </p>
  );
}

function InboxView({ inbox, search }: { inbox: Inbox; search: InboxSearch }) {
  const queryClient = useQueryClient();
  const [isResponseOpen, setResponseOpen] = useState(false);
  const [isClearing, setClearing] = useState(false);
  const clear = useMutation({
    mutationFn: () => sluice.clearInbox(inbox.name),
    onSuccess: async () => {
      setClearing(false);
      showToast({ text: 'Inbox cleared' });
      await queryClient.invalidateQueries({ queryKey: queryKeys.inboxes });
    },
  });
  const actions = useActions(() =>
    // While a request is open, the action list applies to it instead of the inbox.
    search.sel !== undefined
      ? null
      : {
          of: inbox.url,
          actions: [
            { label: 'Set response', run: () => setResponseOpen(true) },
            { label: 'Copy URL', run: () => void copyText(inbox.url, 'URL') },
            inbox.stored > 0 && { label: 'Clear…', run: () => setClearing(true) },
          ],
        },
  );
  return (
    <>
      {actions}
      <header className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-2">
        <span className="data inline-flex min-w-0 items-center gap-1 font-medium">
          <span className="truncate">{inbox.url}</span>
          <CopyButton text={inbox.url} label="Copy URL" iconOnly />
        </span>
        <output className="min-w-0 text-muted">{describeInbox(inbox)}</output>
        <span className="ml-auto flex gap-1">
          <Button aria-expanded={isResponseOpen} onClick={() => setResponseOpen(!isResponseOpen)}>
            <SlidersHorizontal size={14} strokeWidth={1.5} aria-hidden="true" />
            Set response
          </Button>
          <CopyButton text={toReadCommand(inbox.name)} label={READ_LABEL} icon="code" iconOnly />
          <Button
            variant="quiet"
            square
            aria-label={`Clear ${inbox.name}`}
            data-tip="Clear inbox"
            disabled={inbox.stored === 0}
            onClick={() => setClearing(true)}
          >
            <Trash2 size={14} strokeWidth={1.5} aria-hidden="true" />
          </Button>
        </span>
      </header>
      {isResponseOpen && (
        <ResponseForm
          key={JSON.stringify(inbox.response)}
          inbox={inbox}
          onDone={() => setResponseOpen(false)}
        />
      )}
      <InboxRequests inbox={inbox} search={search} />
      {isClearing && (
        <Dialog title={`Clear ${inbox.name}`} onClose={() => setClearing(false)}>
          <CallForm
            call={clear}
            ready
            destructive
            action={`Delete ${formatQuantity(inbox.stored, 'webhook')}`}
            failed="Couldn't clear the inbox"
          >
            <p>
              This deletes {formatQuantity(inbox.stored, 'webhook')} from the inbox. The deliveries
              are kept.
            </p>
          </CallForm>
        </Dialog>
      )}
    </>
  );
}
