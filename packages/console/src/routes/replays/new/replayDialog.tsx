import type { DeliveryFilter, StreamSummary } from '@sluice/kit/sluice';
import { lazy, Suspense, useState } from 'react';
import { DestinationField } from '../../../words/destinationField.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Loading } from '../../../ui/loading.tsx';

const ReplayForm = lazy(async () => ({
  default: (await import('./replayForm.tsx')).ReplayForm,
}));

/**
 * Shows the replay form in a dialog, with a choice of the destination if all deliveries are of one
 * stream. The code of the form loads when the dialog opens.
 */
export function ReplayDialog({
  title,
  filter,
  stream,
  name,
  onClose,
}: {
  title: string;
  filter: DeliveryFilter;
  /** The only stream of the deliveries; undefined if there may be several. */
  stream?: StreamSummary | undefined;
  name: string;
  onClose: () => void;
}) {
  const [destination, setDestination] = useState(filter.destination);
  const { destination: _initial, ...all } = filter;
  const chosen =
    stream === undefined || destination === undefined
      ? all
      : { ...all, streamId: stream.id, destination };
  return (
    <Dialog title={title} onClose={onClose}>
      <Suspense fallback={<Loading />}>
        <ReplayForm filter={chosen} name={name}>
          <DestinationField stream={stream} value={destination} onChange={setDestination} />
        </ReplayForm>
      </Suspense>
    </Dialog>
  );
}
