/**
 * Shows toasts about completed or failed actions. Errors and toasts with an Undo button disappear
 * after 10 s, plain toasts after 1.5 s.
 */
import { clsx } from 'clsx';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { useShortcuts } from './keys/keyboard.ts';
import { Button, Keycap } from './button.tsx';

export interface Toast {
  text: string;
  /** `bad` marks an error, which is shown for the same time as a toast with an Undo button. */
  tone?: 'bad';
  /** Undoes the action and returns the text of the toast that confirms it. */
  undo?: () => Promise<string>;
}

interface Shown extends Toast {
  id: number;
}

const NOTE_MS = 1_500;
const UNDO_MS = 10_000;

let shown: readonly Shown[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

const setShown = (next: readonly Shown[]): void => {
  shown = next;
  for (const listener of listeners) listener();
};

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const isNote = ({ tone, undo }: Toast): boolean => tone === undefined && undo === undefined;

const dismiss = (id: number): void => setShown(shown.filter((each) => each.id !== id));

/**
 * Shows a toast. A plain toast replaces the previous plain one; errors and toasts with an Undo
 * button are not replaced.
 */
export function showToast(toast: Toast): void {
  const others = isNote(toast) ? shown.filter((each) => !isNote(each)) : shown;
  setShown([...others, { ...toast, id: ++lastId }]);
}

async function undo({ id, undo: takeBack }: Shown): Promise<void> {
  if (takeBack === undefined) return;
  dismiss(id);
  try {
    showToast({ text: await takeBack() });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    showToast({ text: `Couldn't undo: ${why}`, tone: 'bad' });
  }
}

export function Toasts() {
  const toasts = useSyncExternalStore(subscribe, () => shown);
  useShortcuts({
    u: () => {
      const newest = toasts.findLast((toast) => toast.undo !== undefined);
      if (newest === undefined) return false;
      void undo(newest);
      return true;
    },
  });
  return (
    <output className="pointer-events-none fixed inset-x-3 bottom-16 z-30 grid justify-items-center gap-2">
      {toasts.map((toast) => (
        <ToastView key={toast.id} toast={toast} />
      ))}
    </output>
  );
}

function ToastView({ toast }: { toast: Shown }) {
  const { id, text, tone } = toast;
  const ms = isNote(toast) ? NOTE_MS : UNDO_MS;
  // A toast does not disappear while it is hovered or focused.
  const [isPointed, setPointed] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const isKept = isPointed || isFocused;
  useEffect(() => {
    if (isKept) return undefined;
    const timer = setTimeout(() => dismiss(id), ms);
    return () => clearTimeout(timer);
  }, [id, isKept, ms]);
  return (
    <span
      className={clsx(
        'flex items-center gap-3 rounded-overlay border border-line bg-surface py-2 pr-3 pl-3 shadow-overlay',
        tone === 'bad' && 'text-bad',
        ms !== NOTE_MS && 'pointer-events-auto',
      )}
      onMouseEnter={() => setPointed(true)}
      onMouseLeave={() => setPointed(false)}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
    >
      {text}
      {toast.undo !== undefined && (
        <Button onClick={() => void undo(toast)}>
          Undo
          <Keycap>u</Keycap>
        </Button>
      )}
    </span>
  );
}
