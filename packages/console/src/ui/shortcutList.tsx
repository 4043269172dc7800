import { SHORTCUTS } from '../keyboard.ts';
import { setShortcutsOn, useShortcutsOn } from '../settings.ts';
import { Dialog } from './dialog.tsx';
import { Check } from './field.tsx';

/** Every shortcut, and the switch that turns single letters off. */
export function ShortcutList({ onClose }: { onClose: () => void }) {
  const on = useShortcutsOn();
  const places = [...new Set(SHORTCUTS.map((shortcut) => shortcut.on))];
  return (
    <Dialog title="Keyboard" onClose={onClose} wide>
      <div className="gap-x-8 sm:columns-2">
        {places.map((place) => (
          <section key={place} className="mb-4 break-inside-avoid">
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
      </div>
      <div className="border-t border-line pt-3">
        <Check
          label="Single-letter shortcuts"
          checked={on}
          onChange={(event) => setShortcutsOn(event.target.checked)}
        />
      </div>
    </Dialog>
  );
}
