import { FEED_URL, MAX_DESTINATIONS } from '@sluice/kit/contract';
import type { StreamDestination } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { queryKeys, sluice } from '../../../data/queries/service.ts';
import { destinationsQuery } from '../../../data/queries/streams.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/form/field.tsx';
import { showToast } from '../../../ui/toasts.ts';
import { CallForm } from '../../../words/callForm.tsx';
import { ErrorPanel } from '../../../words/errorPanel.tsx';

/** Lists the additional destinations of a stream with their state; adds and removes them. */
export function DestinationsSection({ streamId }: { streamId: string }) {
  const destinations = useQuery(destinationsQuery(streamId));
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<StreamDestination>();
  const added = destinations.data ?? [];
  return (
    <section aria-label="Additional destinations" className="border-t border-line px-4 py-4">
      <h3 className="caps mb-2">Additional destinations</h3>
      <p className="text-muted">
        They get the same webhooks as the webhook URL, each with its own deliveries, retries and
        state. If one fails, the others go on.
      </p>
      {destinations.isError && (
        <ErrorPanel
          what="Couldn't load the destinations"
          error={destinations.error}
          onRetry={() => void destinations.refetch()}
        />
      )}
      {added.length > 0 && (
        <ul className="mt-2">
          {added.map((each) => (
            <li key={each.destination} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1">
              <span className="data text-muted">{each.destination}</span>
              <span className="data min-w-0 break-all">{each.webhookUrl}</span>
              <Status destination={each} />
              <Button variant="quiet" onClick={() => setRemoving(each)}>
                Remove…
              </Button>
            </li>
          ))}
        </ul>
      )}
      {added.length + 1 < MAX_DESTINATIONS && (
        <Button className="mt-2" onClick={() => setAdding(true)}>
          Add destination…
        </Button>
      )}
      {adding && <AddDestination streamId={streamId} onClose={() => setAdding(false)} />}
      {removing !== undefined && (
        <RemoveDestination
          streamId={streamId}
          destination={removing}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </section>
  );
}

function Status({ destination: { status, statusMessage } }: { destination: StreamDestination }) {
  const isBad = status === 'error' || status === 'terminated';
  return (
    <span className={isBad ? 'text-bad' : 'text-muted'}>
      {isBad ? `${status}: ${statusMessage}` : status}
    </span>
  );
}

function AddDestination({ streamId, onClose }: { streamId: string; onClose: () => void }) {
  const queryClient = useQueryClient();
  const [url, setUrl] = useState('');
  const add = useMutation({
    mutationFn: () => sluice.addDestination(streamId, { webhookUrl: url.trim() }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: queryKeys.destinations(streamId) });
      onClose();
      showToast({ text: 'Destination added' });
    },
  });
  return (
    <Dialog title="Add a destination" onClose={onClose}>
      <CallForm
        call={add}
        ready={url.trim() !== ''}
        action="Add destination"
        failed="Couldn't add the destination"
      >
        <TextField
          label={`URL of a receiver, sluice://inbox/<name> or ${FEED_URL}`}
          value={url}
          onChange={(event) => setUrl(event.target.value)}
        />
        <p>It gets the webhooks of the next blocks, after a test webhook.</p>
      </CallForm>
    </Dialog>
  );
}

function RemoveDestination({
  streamId,
  destination: { destination, webhookUrl },
  onClose,
}: {
  streamId: string;
  destination: StreamDestination;
  onClose: () => void;
}) {
  const queryClient = useQueryClient();
  const remove = useMutation({
    mutationFn: () => sluice.removeDestination(streamId, destination),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: queryKeys.destinations(streamId) });
      onClose();
      showToast({ text: 'Destination removed' });
    },
  });
  return (
    <Dialog title={`Remove destination ${destination}`} onClose={onClose}>
      <CallForm
        call={remove}
        ready
        destructive
        action="Remove destination"
        failed="Couldn't remove the destination"
      >
        <p>
          {webhookUrl} gets no more webhooks of this stream, and its waiting deliveries are
          canceled. Past deliveries stay visible until their retention ends.
        </p>
      </CallForm>
    </Dialog>
  );
}
