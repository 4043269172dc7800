import { PAGES } from './pages.ts';
import { setShortcutsOn, useShortcutsOn } from '../../ui/preferences.ts';
import { Check } from '../../ui/form/field.tsx';

const SHORTCUTS: readonly { keys: string[]; does: string; on: string }[] = [
  { on: 'Everywhere', keys: ['Ctrl K'], does: 'Search and commands' },
  ...PAGES.map(({ key, title }) => ({ on: 'Everywhere', keys: [`g ${key}`], does: title })),
  { on: 'Everywhere', keys: ['n'], does: 'New stream' },
  { on: 'Everywhere', keys: ['?'], does: 'Show this list' },
  { on: 'Everywhere', keys: ['u'], does: 'Undo the last action' },
  { on: 'Lists', keys: ['j', 'k'], does: 'Next row, previous row' },
  { on: 'Everywhere', keys: ['.'], does: 'Show actions for the row or page' },
  { on: 'Lists', keys: ['Enter'], does: 'Open the row' },
  { on: 'Lists', keys: ['/'], does: 'Filter' },
  { on: 'Lists', keys: ['Space'], does: 'Select or deselect the row' },
  { on: 'Lists', keys: ['Shift J', 'Shift K'], does: 'Extend the selection' },
  { on: 'Lists', keys: ['c', 'y', 'x'], does: 'Copy ID, link or curl command' },
  { on: 'Streams', keys: ['p'], does: 'Pause or resume the stream' },
  { on: 'Streams', keys: ['r'], does: 'Replay failed deliveries' },
  { on: 'Stream', keys: ['[', ']'], does: 'Previous tab, next tab' },
  { on: 'Stream', keys: ['p'], does: 'Pause or resume the stream' },
  { on: 'Stream', keys: ['t'], does: 'Send a test webhook' },
  { on: 'Stream', keys: ['i'], does: 'Import addresses' },
  { on: 'Stream', keys: ['c', 'y'], does: 'Copy ID or link' },
  { on: 'Deliveries', keys: ['r'], does: 'Replay selected or filtered deliveries' },
  { on: 'Deliveries', keys: ['l'], does: 'Pause or resume updates' },
  { on: 'Inbox', keys: ['[', ']'], does: 'Previous view, next view' },
  { on: 'Inbox', keys: ['c', 'y', 'x'], does: 'Copy ID, link or curl command' },
  { on: 'Replays', keys: ['r'], does: 'New replay' },
  { on: 'Delivery', keys: ['[', ']'], does: 'Previous tab, next tab' },
  { on: 'Delivery', keys: ['r'], does: 'Replay' },
  { on: 'Delivery', keys: ['o'], does: 'Open as a page' },
  { on: 'Delivery', keys: ['j', 'k'], does: 'Older delivery, newer delivery' },
  { on: 'Delivery', keys: ['c'], does: 'Copy ID' },
  { on: 'Delivery', keys: ['y'], does: 'Copy link' },
  { on: 'Delivery', keys: ['x'], does: 'Copy as curl' },
  { on: 'Delivery', keys: ['Esc'], does: 'Close' },
  { on: 'Forms', keys: ['Ctrl Enter'], does: 'Create or save' },
];

/** Lists all shortcuts, with a switch that turns off single-key shortcuts. */
export function ShortcutList() {
  const on = useShortcutsOn();
  const places = [...new Set(SHORTCUTS.map((shortcut) => shortcut.on))];
  return (
    <>
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
          label="Single-key shortcuts"
          checked={on}
          onChange={(event) => setShortcutsOn(event.target.checked)}
        />
      </div>
    </>
  );
}
