import { clsx } from 'clsx';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { useShortcuts } from './keys/keyboard.ts';
import { Button, Keycap } from './button.tsx';
import {
  dismissToast,
  isPlain,
  shownToasts,
  type ShownToast,
  subscribeToasts,
  undoToast,
} from './toasts.ts';

/** Time for which a plain toast is shown: enough to read a sentence. */
const NOTE_MS = 4_000;
/** Time for which an error or a toast with an Undo button is shown. */
const UNDO_MS = 10_000;

/** Shows the toasts. They disappear after a while, unless they are hovered or focused. */
export function Toasts() {
  const toasts = useSyncExternalStore(subscribeToasts, shownToasts);
  useShortcuts({
    u: () => {
      const newest = toasts.findLast((toast) => toast.undo !== undefined);
      if (newest === undefined) return false;
      void undoToast(newest);
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

function ToastView({ toast }: { toast: ShownToast }) {
  const { id, text, tone } = toast;
  const ms = isPlain(toast) ? NOTE_MS : UNDO_MS;
  // A toast does not disappear while it is hovered or focused.
  const [isPointed, setPointed] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const isKept = isPointed || isFocused;
  useEffect(() => {
    if (isKept) return undefined;
    const timer = setTimeout(() => dismissToast(id), ms);
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
        <Button onClick={() => void undoToast(toast)}>
          Undo
          <Keycap>u</Keycap>
        </Button>
      )}
    </span>
  );
}
