import type { StreamSummary } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client, queryKeys, streamQuery, streamsQuery } from '../../api.ts';
import { createSnippets } from '../../createSnippets.ts';
import { toDraft } from '../../draft.ts';
import { nameOfStream, withoutTurns } from '../../streamName.ts';
import { Button } from '../../ui/button.tsx';
import { CallForm } from '../../ui/callForm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorPanel } from '../../ui/errorPanel.tsx';
import { TextField } from '../../ui/field.tsx';
import { Snippets } from '../../ui/snippets.tsx';
import { DeliverPart } from '../streamForm/deliverPart.tsx';
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
