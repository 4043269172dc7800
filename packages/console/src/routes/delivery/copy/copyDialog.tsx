import { readInboxName, toInboxUrl } from '@sluice/kit/contract';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { deliveryTextQuery, sendCopyMutation } from '../../../data/queries/delivery.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { LineArea } from '../../../ui/form/lineArea.tsx';
import { TextField } from '../../../ui/form/field.tsx';
import { jsonProblem } from '../../../ui/form/jsonProblem.ts';
import { Loading } from '../../../ui/loading.tsx';
import { formatDuration, formatId } from '../../../ui/text/format.ts';
import { ErrorPanel } from '../../../words/errorPanel.tsx';

const TEST_INBOX = 'tests';

/** Sends an edited copy of a delivery to an inbox or a test URL, signed with a test secret. */
export function CopyDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const body = useQuery(deliveryTextQuery(id));
  return (
    <Dialog title={`Edit and resend ${formatId(id)}`} wide onClose={onClose}>
      {body.isError && (
        <ErrorPanel
          what="Couldn't load the body"
          error={body.error}
          onRetry={() => void body.refetch()}
        />
      )}
      {body.isPending && <Loading />}
      {body.isSuccess && <CopyForm id={id} original={body.data} />}
    </Dialog>
  );
}

function CopyForm({ id, original }: { id: string; original: string }) {
  const [url, setUrl] = useState(toInboxUrl(TEST_INBOX));
  const [secret, setSecret] = useState(createSecret);
  const [body, setBody] = useState(() => JSON.stringify(JSON.parse(original), null, 2));
  const send = useMutation(sendCopyMutation(id));
  const problem = jsonProblem(body);
  const inbox = readInboxName(url.trim());
  const submit = (): void => {
    if (problem === undefined) send.mutate({ url: url.trim(), body, secret });
  };
  return (
    <form
      className="grid gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <LineArea
        label="Body"
        problems={problem === undefined ? [] : [problem]}
        rows={8}
        value={body}
        onChange={setBody}
      />
      <TextField
        label="Send to"
        help="A test URL, or an inbox: sluice://inbox/<name>"
        mono
        required
        value={url}
        onChange={(event) => setUrl(event.target.value)}
      />
      <TextField
        label="Test secret"
        help="Only this secret signs the copy, never the stream’s. The copy has a new webhook-id, and the header x-sluice-copy-of."
        mono
        required
        minLength={8}
        value={secret}
        onChange={(event) => setSecret(event.target.value)}
      />
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" variant="primary" disabled={send.isPending || problem !== undefined}>
          {send.isPending ? 'Sending' : 'Send copy'}
        </Button>
        {inbox !== undefined && (
          <Link
            to="/inbox/$name"
            params={{ name: inbox }}
            className="text-12 text-accent hover:underline"
          >
            Open the inbox
          </Link>
        )}
      </div>
      {send.isError && (
        <ErrorPanel what="Couldn't send the copy" error={send.error} onRetry={submit} />
      )}
      {send.isSuccess && (
        <section aria-label="Response" className="grid gap-1 border-t border-line pt-3">
          <output className="flex flex-wrap gap-x-3">
            <span className={`data ${send.data.error === null ? 'text-ok' : 'text-bad'}`}>
              {send.data.status ?? 'no response'}
            </span>
            <span className="data text-muted">{formatDuration(send.data.durationMs)}</span>
            {send.data.error !== null && (
              <span className="min-w-0 break-words text-bad">{send.data.error}</span>
            )}
          </output>
          {send.data.responseBody !== '' && (
            <pre className="data max-h-40 overflow-auto break-words whitespace-pre-wrap">
              {send.data.responseBody}
            </pre>
          )}
        </section>
      )}
    </form>
  );
}

/** Returns a new secret in the format of Standard Webhooks. */
function createSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}
