import type { StreamSummary } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { aboutQuery } from '../../../data/queries/access.ts';
import { client, queryKeys } from '../../../data/queries/service.ts';
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
import { EditStream } from './editStream.tsx';
import { StreamSecretSection } from './streamSecret.tsx';

/** Where the stream delivers, the stream as code, and its end. */
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

/** What the service as a whole was started with, and each of its streams has. */
function Promises() {
  const { data: about } = useQuery(aboutQuery);
  if (about === undefined) return null;
  const { retryWaitsMs, quickRetryMs, deliveredMs, undeliveredMs } = about;
  return (
    <section aria-label="Retries and retention" className="border-t border-line px-4 py-4">
      <h3 className="caps mb-2">Retries and retention</h3>
      <p className="text-muted">
        {quickRetryMs !== null &&
          `A first attempt that meets no receiver, or a 5xx, is made again after ${formatWait(quickRetryMs)}. `}
        An attempt that fails is followed by another
        {retryWaitsMs.map((waitMs, index) => (
          <span key={index}>
            {index === 0 ? ' ' : index === retryWaitsMs.length - 1 ? ' and ' : ', '}
            <span className="data text-text">{formatWait(waitMs)}</span>
          </span>
        ))}{' '}
        later; then the delivery has failed, and can be sent again.
      </p>
      <p className="mt-1 text-muted">
        What was delivered is kept for{' '}
        <span className="data text-text">{formatSpan(deliveredMs)}</span>, all else for{' '}
        <span className="data text-text">{formatSpan(undeliveredMs)}</span>.{' '}
        <Link to="/settings" className="text-accent underline underline-offset-2">
          For all streams alike
        </Link>
      </p>
    </section>
  );
}

function Ending({ stream }: { stream: StreamSummary }) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [asking, setAsking] = useState(false);
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
      // The list asks for the tape of each stream it shows.
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
          what="The stream was not duplicated"
          error={duplicate.error}
          onRetry={() => duplicate.mutate()}
        />
      )}
      <div className="flex flex-wrap gap-2">
        {stream.family === 'evm' && (
          <Button disabled={duplicate.isPending} onClick={() => duplicate.mutate()}>
            Duplicate with its addresses
          </Button>
        )}
        <Button className="text-bad" onClick={() => setAsking(true)}>
          Delete stream
        </Button>
      </div>
      {asking && (
        <Dialog title={`Delete ${name}`} onClose={() => setAsking(false)}>
          <CallForm
            call={remove}
            ready={withoutTurns(typed) === withoutTurns(name)}
            destructive
            action="Delete stream"
            failed="The stream was not deleted"
          >
            <p>
              Nothing more is matched, and what waits to be sent is not sent. Its deliveries can
              still be read until their retention ends.
            </p>
            <TextField
              label={`Type ${name} to delete it`}
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          </CallForm>
        </Dialog>
      )}
    </section>
  );
}
