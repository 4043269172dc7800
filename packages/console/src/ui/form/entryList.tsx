import { Plus, X } from 'lucide-react';
import { Children, useState } from 'react';
import { Button } from '../button.tsx';

/** A list of form entries, with a button that adds one. */
export function EntryList({
  legend,
  help,
  error,
  addLabel,
  onAdd,
  onUndo,
  children,
}: {
  legend: string;
  help?: string;
  /** Problem of the list or of its first invalid entry. */
  error?: string | undefined;
  addLabel: string;
  onAdd: () => void;
  /** Undoes the last removal of an entry; undefined if there is nothing to undo. */
  onUndo?: (() => void) | undefined;
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
      {onUndo !== undefined && (
        <output className="flex items-center gap-2 text-12 text-muted">
          Entry removed. <Button onClick={onUndo}>Undo</Button>
        </output>
      )}
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

/** Removes entries of a list. The last removal can be undone until the list changes again. */
export function useRemoval<Entry>(entries: Entry[], onChange: (entries: Entry[]) => void) {
  const [last, setLast] = useState<{ before: Entry[]; after: Entry[] }>();
  return {
    /** @param after the list without an entry */
    remove(after: Entry[]): void {
      setLast({ before: entries, after });
      onChange(after);
    },
    undo: last?.after === entries ? () => onChange(last.before) : undefined,
  };
}
