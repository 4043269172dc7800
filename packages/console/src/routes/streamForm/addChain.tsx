import { familyOf, nameOfChain } from '@sluice/kit/contract';
import { Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { createPortal } from 'react-dom';
import type { WatchedChain } from '../../chains/timeline.ts';
import { Button } from '../../ui/button.tsx';
import type { PartProps } from './partProps.ts';

const AddNode = lazy(async () => ({ default: (await import('../chains/addNode.tsx')).AddNode }));

/** Adds a chain by the URL of its node, and selects it if the stream can have it. */
export function AddChain({
  draft,
  chains,
  onChange,
}: Pick<PartProps, 'draft' | 'onChange'> & { chains: readonly WatchedChain[] }) {
  const [isOpen, setOpen] = useState(false);
  const select = (id: string): void => {
    const name = nameOfChain(id);
    if (familyOf(id) !== draft.family || draft.chains.includes(name)) return;
    onChange({ ...draft, chains: [...draft.chains, name] });
  };
  return (
    <>
      <Button variant="quiet" onClick={() => setOpen(true)}>
        <Plus size={12} strokeWidth={1.5} aria-hidden="true" />
        Add a chain by its node…
      </Button>
      {isOpen &&
        createPortal(
          // React bubbles the events of the dialog to the form around this component.
          <div onSubmit={(event) => event.stopPropagation()}>
            <Suspense>
              <AddNode chains={chains} onAdded={select} onClose={() => setOpen(false)} />
            </Suspense>
          </div>,
          document.body,
        )}
    </>
  );
}
