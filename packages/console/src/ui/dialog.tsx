import { clsx } from 'clsx';
import { X } from 'lucide-react';
import { useId, useLayoutEffect, useRef } from 'react';
import { Button } from './button.tsx';

/**
 * Focuses the first control of the content, except Cancel and dangerous buttons. Returns false if
 * there is none.
 */
function focusFirst(content: HTMLElement): boolean {
  const first = content.querySelector<HTMLElement>(
    'a[href], button:enabled:not([data-danger], [data-cancel]), input:enabled, select:enabled, textarea:enabled',
  );
  first?.focus();
  return first !== null;
}

/** A native modal dialog: it traps the focus, closes with Esc, and then restores the focus. */
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
  // Opens before the paint, so that no key reaches the page below the dialog.
  useLayoutEffect(() => {
    const inside = content.current;
    dialog.current?.showModal();
    if (inside === null || focusFirst(inside)) return undefined;
    // Focuses the dialog instead of its close button, because the user may press Enter before the
    // content has loaded.
    dialog.current?.focus();
    // Focuses the first control as soon as the content has loaded.
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
        <Button variant="quiet" square aria-label="Close" onClick={() => dialog.current?.close()}>
          <X size={16} strokeWidth={1.5} aria-hidden="true" />
        </Button>
      </header>
      <div ref={content} className="p-4">
        {children}
      </div>
    </dialog>
  );
}

/**
 * The buttons of a dialog, at its bottom right and always in view. A button that closes the dialog
 * without an effect comes first, and the action last.
 */
export function DialogFooter({
  cancel = 'Cancel',
  children,
}: {
  /** Label of the button that closes the dialog. */
  cancel?: string;
  children?: React.ReactNode;
}) {
  return (
    <footer className="sticky bottom-0 -mx-4 mt-1 -mb-4 flex flex-wrap justify-end gap-2 border-t border-line bg-surface px-4 py-3">
      <Button
        data-cancel
        variant="quiet"
        onClick={({ currentTarget }) => currentTarget.closest('dialog')?.close()}
      >
        {cancel}
      </Button>
      {children}
    </footer>
  );
}
