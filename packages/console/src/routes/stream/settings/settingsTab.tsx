import { DRAFT_FAMILIES } from '../../../families/draftFamilies.ts';
import type { StreamSummary } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { aboutQuery } from '../../../data/queries/access.ts';
import { client } from '../../../data/client.ts';
import { queryKeys } from '../../../data/queries/service.ts';
import { streamQuery, streamsQuery } from '../../../data/queries/streams.ts';
import { createSnippets } from '../../newStream/createSnippets.ts';
import { toDraft } from '../../streamForm/draft/fields.ts';
import { formatSpan, formatWait } from '../../../ui/text/format.ts';
import { nameOfStream, withoutTurns } from '../../../words/names.ts';
import { Button } from '../../../ui/button.tsx';
import { CallForm } from '../../../words/callForm.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { ErrorPanel } from '../../../words/errorPanel.tsx';
import { TextField } from '../../../ui/form/field.tsx';
import { Snippets } from '../../../ui/text/snippets.tsx';
import { DeliverPart } from '../../streamForm/deliverPart.tsx';
import { DestinationsSection } from './destinations.tsx';
import { EditStream } from './editStream.tsx';
import { StreamSecretSection } from './streamSecret.tsx';

/**
 * Edits delivery settings, manages the secret, shows the stream as code, and duplicates or deletes
 * the stream.
 */
export function SettingsTab({ stream }: { stream: StreamSummary }) {
  const { data } = useQuery(streamQuery(stream));
  return (
    <div className="max-w-180">
      <EditStream stream={stream}>
        {(part) => (
          <div className="p-4">
            <DeliverPart {...part} />
          </div>
        )}
      </EditStream>
      <DestinationsSection stream={stream} />
      <StreamSecretSection streamId={stream.id} />
      <Promises />
      <section aria-label="As code" className="border-t border-line">
        <h3 className="caps px-4 pt-4 pb-1">As code</h3>
        {data !== undefined && (
          <Snippets
            snippets={{
              ...createSnippets(toDraft(data), location.origin),
              JSON: JSON.stringify(data, null, 2),
            }}
          />
        )}
      </section>
      <Ending stream={stream} />
    </div>
  );
}

/** Shows the retry schedule and the retention, which the service applies to every stream. */
function Promises() {
  const { data: about } = useQuery(aboutQuery);
  if (about === undefined) return null;
  const { retryWaitsMs, fastRetryMs, deliveredMs, undeliveredMs } = about;
  return (
    <section aria-label="Retries and retention" className="border-t border-line px-4 py-4">
      <h3 className="caps mb-2">Retries and retention</h3>
      <p className="text-muted">
        {fastRetryMs !== null &&
          `The first attempt is retried after ${formatWait(fastRetryMs)} if it gets a 5xx or no response. `}
        Failed attempts are retried after{' '}
        <span className="data text-text">
          {retryWaitsMs.map((waitMs) => formatWait(waitMs)).join(', ')}
        </span>
        . After the last attempt, the delivery fails and can be replayed.
      </p>
      <p className="mt-1 text-muted">
        Delivered and canceled webhooks are kept for{' '}
        <span className="data text-text">{formatSpan(deliveredMs)}</span>, others for{' '}
        <span className="data text-text">{formatSpan(undeliveredMs)}</span>.{' '}
        <Link to="/settings" className="inline-block py-1 text-accent underline underline-offset-2">
          These values apply to all streams
        </Link>
      </p>
    </section>
  );
}

function Ending({ stream }: { stream: StreamSummary }) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [asking, setConfirming] = useState(false);
  const [typed, setTyped] = useState('');
  const name = nameOfStream(stream);
  const duplicate = useMutation({
    mutationFn: () => client.streams.duplicate(stream.id),
    onSuccess: async ({ id }) => {
      await queryClient.invalidateQueries({ queryKey: queryKeys.streams });
      await navigate({
        to: '/streams/$streamId',
        params: { streamId: id },
        search: { tab: 'settings' },
      });
    },
  });
  const remove = useMutation({
    mutationFn: () => client.streams.delete(stream.id, { networkType: stream.family }),
    onSuccess: async () => {
      // Removes the stream from the cache before the list is shown. Otherwise, the list would
      // request the timeline of the deleted stream.
      queryClient.setQueryData(streamsQuery.queryKey, (streams) =>
        streams?.filter(({ id }) => id !== stream.id),
      );
      await navigate({ to: '/' });
      await queryClient.invalidateQueries({ queryKey: queryKeys.streams });
    },
  });
  return (
    <section aria-label="Duplicate or delete" className="border-t border-line px-4 py-4">
      {duplicate.isError && (
        <ErrorPanel
          what="Couldn't duplicate the stream"
          error={duplicate.error}
          onRetry={() => duplicate.mutate()}
        />
      )}
      <div className="flex flex-wrap gap-2">
        {DRAFT_FAMILIES[stream.family].canDuplicate && (
          <Button disabled={duplicate.isPending} onClick={() => duplicate.mutate()}>
            Duplicate with addresses
          </Button>
        )}
        <Button variant="danger" onClick={() => setConfirming(true)}>
          Delete stream
        </Button>
      </div>
      {asking && (
        <Dialog title={`Delete ${name}`} onClose={() => setConfirming(false)}>
          <CallForm
            call={remove}
            ready={withoutTurns(typed) === withoutTurns(name)}
            destructive
            action="Delete stream"
            failed="Couldn't delete the stream"
          >
            <p>
              The stream stops matching, and queued webhooks are not sent. Past deliveries stay
              visible until their retention ends.
            </p>
            <TextField
              label={`Type ${name} to confirm`}
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          </CallForm>
        </Dialog>
      )}
    </section>
  );
}
