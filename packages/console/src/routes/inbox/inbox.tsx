import type { Inbox } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { SlidersHorizontal, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { inboxesQuery, queryKeys, sluice } from '../../api.ts';
import { formatQuantity } from '../../format.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { CallForm } from '../../ui/callForm.tsx';
import { CopyButton } from '../../ui/copyButton.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorPanel } from '../../ui/errorPanel.tsx';
import { Segments } from '../../ui/segments.tsx';
import { AnswerForm } from './answerForm.tsx';
import { InboxRequests } from './inboxRequests.tsx';

/** The built-in receiver: what came in, and what it answers. */
export function InboxPage() {
  const search = useSearch({ from: '/frame/inbox' });
  const navigate = useNavigate({ from: '/inbox' });
  const inboxes = useQuery(inboxesQuery);
  const inbox = inboxes.data?.find(({ name }) => name === search.name) ?? inboxes.data?.[0];
  return (
    <div className="flex h-full min-h-0 flex-col">
      {inboxes.isError && (
        <ErrorPanel
          what="The inboxes could not be read"
          error={inboxes.error}
          onRetry={() => void inboxes.refetch()}
          stale={inboxes.data !== undefined}
        />
      )}
      {inboxes.isPending && <p className="animate-late p-4 text-faint">Loading</p>}
      {inboxes.data !== undefined && inboxes.data.length > 1 && (
        <div className="border-b border-line px-4 py-2">
          <Segments
            label="Inbox"
            options={inboxes.data.map(({ name, received }) => ({
              value: name,
              label: (
                <>
                  {name} <span className="data text-faint">{received}</span>
                </>
              ),
            }))}
            value={inbox?.name ?? ''}
            onChange={(name) => void navigate({ search: { name } })}
          />
        </div>
      )}
      {inboxes.data?.length === 0 && <NoInbox />}
      {inbox !== undefined && <InboxView key={inbox.name} inbox={inbox} selected={search.sel} />}
    </div>
  );
}

function NoInbox() {
  return (
    <div className="px-4 py-6">
      <p className="font-medium">Nothing has come in yet</p>
      <p className="mt-1 text-muted">
        An inbox is a receiver inside the service: no server, no public address. Give a stream this
        URL, or any other name:
      </p>
      <p className="data mt-3 flex items-center gap-2">
        sluice://inbox/default
        <CopyButton text="sluice://inbox/default" label="Copy URL" />
      </p>
      <Link to="/streams/new" className={`${buttonClass('primary')} mt-3`}>
        New stream into an inbox
      </Link>
    </div>
  );
}

function InboxView({ inbox, selected }: { inbox: Inbox; selected: string | undefined }) {
  const queryClient = useQueryClient();
  const [open, setOpen] = useState<'answer' | 'clear' | null>(null);
  const clear = useMutation({
    mutationFn: () => sluice.clearInbox(inbox.name),
    onSuccess: async () => {
      setOpen(null);
      await queryClient.invalidateQueries({ queryKey: queryKeys.inboxes });
    },
  });
  return (
    <>
      <header className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-2">
        <span className="data inline-flex min-w-0 items-center gap-1">
          <span className="truncate">{inbox.url}</span>
          <CopyButton text={inbox.url} label="Copy URL" iconOnly />
        </span>
        <span className="text-muted">answers {describeAnswer(inbox)}</span>
        <span className="ml-auto flex gap-2">
          <Button onClick={() => setOpen('answer')}>
            <SlidersHorizontal size={14} strokeWidth={1.5} aria-hidden="true" />
            Set answer
          </Button>
          <Button
            look="quiet"
            square
            aria-label={`Forget all of ${inbox.name}`}
            title="Forget all that came in"
            disabled={inbox.kept === 0}
            onClick={() => setOpen('clear')}
          >
            <Trash2 size={14} strokeWidth={1.5} aria-hidden="true" />
          </Button>
        </span>
      </header>
      <InboxRequests inbox={inbox} selected={selected} />
      {open === 'answer' && (
        <Dialog title={`What ${inbox.name} answers`} onClose={() => setOpen(null)}>
          <AnswerForm inbox={inbox} onDone={() => setOpen(null)} />
        </Dialog>
      )}
      {open === 'clear' && (
        <Dialog title={`Forget all of ${inbox.name}`} onClose={() => setOpen(null)}>
          <CallForm
            call={clear}
            ready
            destructive
            action={`Forget ${formatQuantity(inbox.kept, 'webhook')}`}
            failed="Nothing was forgotten"
          >
            <p>
              {formatQuantity(inbox.kept, 'webhook')} that came in will be gone. The deliveries that
              sent them stay.
            </p>
          </CallForm>
        </Dialog>
      )}
    </>
  );
}

function describeAnswer({ answer }: Inbox): string {
  const { status, delayMs, failFirst, failEvery, failStatus } = answer;
  return [
    String(status),
    delayMs > 0 ? `after ${delayMs} ms` : '',
    failFirst > 0 ? `the first ${failFirst} with ${failStatus}` : '',
    failEvery > 0 ? `every ${failEvery}th with ${failStatus}` : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
}
