import type { DeliveryFilter } from '@sluice/kit/sluice';
import { lazy, Suspense } from 'react';
import { Dialog } from '../../../ui/dialog.tsx';
import { Loading } from '../../../ui/loading.tsx';

const ReplayForm = lazy(async () => ({
  default: (await import('./replayForm.tsx')).ReplayForm,
}));

/** Shows the replay form in a dialog. The code of the form loads when the dialog opens. */
export function ReplayDialog({
  title,
  filter,
  name,
  onClose,
}: {
  title: string;
  filter: DeliveryFilter;
  name: string;
  onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Suspense fallback={<Loading />}>
        <ReplayForm filter={filter} name={name} />
      </Suspense>
    </Dialog>
  );
}
