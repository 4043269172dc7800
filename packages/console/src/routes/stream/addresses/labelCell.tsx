import { Pencil } from 'lucide-react';
import { useState } from 'react';

/** Shows a label, and edits it in place: Enter or leaving the field saves, Escape cancels. */
export function LabelCell({
  address,
  label,
  onSave,
}: {
  address: string;
  /** Label of the address; empty if the address has none. */
  label: string;
  /** @param next the new label; an empty string removes the label. */
  onSave: (next: string) => Promise<void>;
}) {
  const [draft, setDraft] = useState<string | null>(null);
  /** The label that is being saved; shown instead of the old one. */
  const [saved, setSaved] = useState<string | null>(null);
  const shown = saved ?? label;
  const save = async (): Promise<void> => {
    if (draft === null) return;
    const next = draft.trim();
    setDraft(null);
    if (next === shown) return;
    setSaved(next);
    await onSave(next).finally(() => setSaved(null));
  };
  if (draft === null) {
    return (
      <button
        type="button"
        aria-label={shown === '' ? `Add a label to ${address}` : `Edit label ${shown}`}
        data-tip={shown === '' ? 'Add a label' : 'Edit the label'}
        onClick={() => setDraft(shown)}
        className="group/label flex h-6 w-full min-w-0 items-center gap-1.5 text-left"
      >
        <span data-cut className="min-w-0 truncate">
          {shown}
        </span>
        <Pencil
          size={12}
          strokeWidth={1.5}
          aria-hidden="true"
          className="shrink-0 text-faint opacity-0 group-hover/label:opacity-100 group-focus-visible/label:opacity-100 pointer-coarse:opacity-100"
        />
      </button>
    );
  }
  return (
    <input
      aria-label={`Label of ${address}`}
      // oxlint-disable-next-line jsx-a11y/no-autofocus -- the button that had the focus is replaced
      autoFocus
      maxLength={64}
      spellCheck={false}
      autoComplete="off"
      value={draft}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={() => void save()}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing) return;
        if (event.key === 'Enter') void save();
        else if (event.key === 'Escape') setDraft(null);
      }}
      className="h-6 w-full rounded-control border border-line-strong bg-surface px-1.5 font-normal"
    />
  );
}
