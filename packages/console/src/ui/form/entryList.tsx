import { Plus, X } from 'lucide-react';
import { Children } from 'react';
import { Button } from '../button.tsx';

/** A list of form entries, with a button that adds one. */
export function EntryList({
  legend,
  help,
  error,
  addLabel,
  onAdd,
  children,
}: {
  legend: string;
  help?: string;
  /** Problem of the list or of its first invalid entry. */
  error?: string | undefined;
  addLabel: string;
  onAdd: () => void;
  children: React.ReactNode;
}) {
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 text-12 text-muted">{legend}</legend>
      {help !== undefined && <p className="text-12 text-faint">{help}</p>}
      <ul>
        {Children.map(children, (entry) => (
          <li className="border-b border-line py-3">{entry}</li>
        ))}
      </ul>
      {error !== undefined && <p className="py-1 text-12 text-bad">{error}</p>}
      <Button variant="quiet" onClick={onAdd}>
        <Plus size={12} strokeWidth={1.5} aria-hidden="true" />
        {addLabel}
      </Button>
    </fieldset>
  );
}

/** Removes an entry of an {@link EntryList}. */
export const RemoveEntry = ({ label, onClick }: { label: string; onClick: () => void }) => (
  <Button variant="quiet" square className="ml-auto" aria-label={label} onClick={onClick}>
    <X size={14} strokeWidth={1.5} aria-hidden="true" />
  </Button>
);
