import { clsx } from 'clsx';
import { X } from 'lucide-react';
import { useId, useLayoutEffect, useRef } from 'react';
import { Button } from './button.tsx';

/** Something to do, instead of the button that closes; but nothing that takes something away. */
function focusFirst(content: HTMLElement): boolean {
  const first = content.querySelector<HTMLElement>(
    'a[href], button:enabled:not([data-destructive]), input:enabled, select:enabled, textarea:enabled',
  );
  first?.focus();
  return first !== null;
}

/** The browser's own modal dialog: it keeps the focus, closes with Esc, and gives the focus back. */
export function Dialog({
  title,
  onClose,
  wide = false,
  children,
}: {
  title: string;
  onClose: () => void;
  wide?: boolean;
  children: React.ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const content = useRef<HTMLDivElement>(null);
  // With the paint: a key must never meet what the dialog covers.
  useLayoutEffect(() => {
    const inside = content.current;
    dialog.current?.showModal();
    if (inside === null || focusFirst(inside)) return undefined;
    // Not the button that closes: Enter may be pressed before the content is there.
    dialog.current?.focus();
    // What is in it may come later than the dialog itself.
    const arrivals = new MutationObserver(() => {
      if (inside.contains(document.activeElement) || focusFirst(inside)) arrivals.disconnect();
    });
    arrivals.observe(inside, { childList: true, subtree: true });
    return () => arrivals.disconnect();
  }, []);
  return (
    <dialog
      ref={dialog}
      tabIndex={-1}
      aria-labelledby={titleId}
      onClose={onClose}
      className={clsx(
        'm-auto max-h-[90dvh] max-w-[calc(100vw-24px)] animate-overlay overflow-auto rounded-overlay border border-line bg-surface p-0 text-text shadow-overlay outline-none backdrop:bg-bg/60',
        wide ? 'w-160' : 'w-104',
      )}
    >
      <header className="flex items-center justify-between border-b border-line py-2 pr-2 pl-4">
        <h2 id={titleId} className="text-14 font-medium">
          {title}
        </h2>
        <Button look="quiet" square aria-label="Close" onClick={() => dialog.current?.close()}>
          <X size={16} strokeWidth={1.5} aria-hidden="true" />
        </Button>
      </header>
      <div ref={content} className="p-4">
        {children}
      </div>
    </dialog>
  );
}
