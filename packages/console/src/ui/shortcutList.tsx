import { X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { SHORTCUTS } from '../keyboard.ts';
import { setShortcutsOn, useShortcutsOn } from '../settings.ts';
import { Button } from './button.tsx';

/** Every shortcut, and the switch that turns single letters off. */
export function ShortcutList({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const on = useShortcutsOn();
  useEffect(() => dialog.current?.showModal(), []);
  const places = [...new Set(SHORTCUTS.map((shortcut) => shortcut.on))];
  return (
    <dialog
      ref={dialog}
      aria-labelledby="shortcuts-title"
      onClose={onClose}
      className="m-auto max-h-[90dvh] w-96 max-w-[calc(100vw-24px)] animate-overlay overflow-auto rounded-overlay border border-line bg-surface p-0 text-text shadow-overlay backdrop:bg-bg/60"
    >
      <header className="flex items-center justify-between border-b border-line py-2 pr-2 pl-4">
        <h2 id="shortcuts-title" className="text-14 font-medium">
          Keyboard
        </h2>
        <Button look="quiet" square aria-label="Close" onClick={() => dialog.current?.close()}>
          <X size={16} strokeWidth={1.5} aria-hidden="true" />
        </Button>
      </header>
      <div className="grid gap-4 p-4">
        {places.map((place) => (
          <section key={place}>
            <h3 className="caps mb-1">{place}</h3>
            <dl className="grid gap-1">
              {SHORTCUTS.filter((shortcut) => shortcut.on === place).map(({ keys, does }) => (
                <div key={does} className="flex justify-between gap-4">
                  <dt className="order-last flex gap-1">
                    {keys.map((key) => (
                      <span key={key} className="data text-text">
                        {key}
                      </span>
                    ))}
                  </dt>
                  <dd className="text-muted">{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <label className="flex min-h-6 items-center gap-2 border-t border-line pt-3 text-muted">
          <input
            type="checkbox"
            checked={on}
            onChange={(event) => setShortcutsOn(event.target.checked)}
            className="size-4 accent-accent"
          />
          Single-letter shortcuts
        </label>
      </div>
    </dialog>
  );
}
