import { MAX_DESTINATIONS } from '@sluice/kit/contract';
import type { StreamDestination, StreamSummary } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { queryKeys, sluice } from '../../../data/queries/service.ts';
import { destinationsQuery } from '../../../data/queries/streams.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Status } from '../../../ui/status.tsx';
import { formatCount } from '../../../ui/text/format.ts';
import { showToast } from '../../../ui/toasts.ts';
import { CallForm } from '../../../words/callForm.tsx';
import { destinationCondition } from '../../../words/condition.ts';
import { ErrorPanel } from '../../../words/errorPanel.tsx';
import { DestinationFields } from '../../streamForm/destination/destinationFields.tsx';
import { problemOfUrl } from '../../streamForm/draft/problems.ts';

/** Lists the additional destinations of a stream with their state; adds, edits and removes them. */
export function DestinationsSection({ stream }: { stream: StreamSummary }) {
  const destinations = useQuery(destinationsQuery(stream.id));
  const [adding, setAdding] = useState(false);
  const [editing, setEditing] = useState<StreamDestination>();
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
            <li key={each.destination} className="py-1">
              <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
                <span className="data text-muted">{each.destination}</span>
                <span className="data min-w-0 break-all">{each.webhookUrl}</span>
                <State stream={stream} destination={each} />
                <Button
                  variant="quiet"
                  aria-label={`Edit destination ${each.destination}`}
                  onClick={() => setEditing(each)}
                >
                  Edit…
                </Button>
                <Button
                  variant="quiet"
                  aria-label={`Remove destination ${each.destination}`}
                  onClick={() => setRemoving(each)}
                >
                  Remove…
                </Button>
              </div>
              {(each.status === 'error' || each.status === 'terminated') && (
                <p className="break-words text-bad">{each.statusMessage}</p>
              )}
            </li>
          ))}
        </ul>
      )}
      {added.length + 1 < MAX_DESTINATIONS && (
        <Button className="mt-2" onClick={() => setAdding(true)}>
          Add destination…
        </Button>
      )}
      {adding && <DestinationForm streamId={stream.id} onClose={() => setAdding(false)} />}
      {editing !== undefined && (
        <DestinationForm
          streamId={stream.id}
          known={editing}
          onClose={() => setEditing(undefined)}
        />
      )}
      {removing !== undefined && (
        <RemoveDestination
          streamId={stream.id}
          destination={removing}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </section>
  );
}

/** Shows the state of a destination, and what waits. */
function State({
  stream,
  destination: { destination, status },
}: {
  stream: StreamSummary;
  destination: StreamDestination;
}) {
  const summary = stream.destinations.find((each) => each.destination === destination);
  const { queue = 0, backOff = null } = summary ?? {};
  return (
    <>
      <Status condition={destinationCondition({ status, backOff })} />
      {queue > 0 && <span className="text-12 text-muted">{formatCount(queue)} queued</span>}
    </>
  );
}

/** Adds a destination, or changes the URL of a known one. */
function DestinationForm({
  streamId,
  known,
  onClose,
}: {
  streamId: string;
  known?: StreamDestination;
  onClose: () => void;
}) {
  const queryClient = useQueryClient();
  const [webhookUrl, setUrl] = useState(known?.webhookUrl ?? '');
  const problem = webhookUrl === '' ? undefined : problemOfUrl(webhookUrl);
  const save = useMutation({
    mutationFn: () =>
      known === undefined
        ? sluice.addDestination(streamId, { webhookUrl })
        : sluice.updateDestination(streamId, known.destination, { webhookUrl }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: queryKeys.destinations(streamId) });
      onClose();
      showToast({ text: known === undefined ? 'Destination added' : 'Destination changed' });
    },
  });
  return (
    <Dialog
      title={known === undefined ? 'Add a destination' : `Edit destination ${known.destination}`}
      onClose={onClose}
    >
      <CallForm
        call={save}
        ready={webhookUrl !== '' && problem === undefined}
        action={known === undefined ? 'Add destination' : 'Save'}
        failed={
          known === undefined ? "Couldn't add the destination" : "Couldn't change the destination"
        }
      >
        <DestinationFields label="URL" value={webhookUrl} error={problem} onChange={setUrl} />
        <p>
          {known === undefined
            ? 'It gets the webhooks of the next blocks. A backfill sends it earlier ones.'
            : 'Waiting and later webhooks are sent to this URL.'}
        </p>
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
