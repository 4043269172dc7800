/** Examples of what opens above the page. The first button in `data-opens` opens it. */
import { useState } from 'react';
import { Button } from '../src/ui/button.tsx';
import { Confirm } from '../src/ui/confirm.tsx';
import { Dialog, DialogFooter } from '../src/ui/dialog.tsx';
import { TextField } from '../src/ui/form/field.tsx';
import { PeriodField } from '../src/ui/form/period/periodField.tsx';
import { MoreButton, useActions } from '../src/ui/keys/actionList.tsx';
import { Term } from '../src/ui/tips/term.tsx';
import { Toasts } from '../src/ui/toastList.tsx';
import { showToast } from '../src/ui/toasts.ts';

const HOUR = { from: Date.UTC(2026, 10, 5, 9, 4), until: Date.UTC(2026, 10, 5, 10, 4) - 1 };
const nothing = (): void => {};

function Opened({ children }: { children: (close: () => void) => React.ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div data-opens>
      <Button onClick={() => setOpen(true)}>Open</Button>
      {isOpen && children(() => setOpen(false))}
    </div>
  );
}

function MenuExample() {
  const menu = useActions(() => ({
    of: 'payments',
    actions: [
      { label: 'Open', keycap: '↵', run: nothing },
      { label: 'Pause', keycap: 'p', run: nothing },
      { label: 'Replay failed deliveries…', keycap: 'r', run: nothing },
      { label: 'Settings', run: nothing },
    ],
  }));
  return (
    <div data-opens>
      <MoreButton of="payments" />
      {menu}
    </div>
  );
}

export const OVERLAYS: Readonly<Record<string, React.ComponentType>> = {
  tooltip: () => (
    <div data-opens className="pt-10">
      <Term tip="Latency in milliseconds plus penalties for lag, failures and doubt.">Score</Term>
    </div>
  ),
  menu: MenuExample,
  period_panel: () => (
    <div data-opens>
      <PeriodField label="Created in" empty="Any time" value={HOUR} onChange={nothing} />
    </div>
  ),
  form_dialog: () => (
    <Opened>
      {(close) => (
        <Dialog title="Create API key" onClose={close}>
          <div className="grid gap-3">
            <TextField label="Name" />
            <DialogFooter>
              <Button variant="primary">Create key</Button>
            </DialogFooter>
          </div>
        </Dialog>
      )}
    </Opened>
  ),
  confirm: () => (
    <Opened>
      {(close) => (
        <Confirm title="Send test webhook" action="Send test" onConfirm={nothing} onClose={close}>
          Sluice sends a test webhook to https://example.com/hooks.
        </Confirm>
      )}
    </Opened>
  ),
  toasts: () => (
    <div data-opens className="flex gap-2">
      <Button
        onClick={() => {
          showToast({ text: 'payments paused', undo: () => Promise.resolve('payments resumed') });
          showToast({ text: "Couldn't copy the link", tone: 'bad' });
          showToast({ text: 'Link copied' });
        }}
      >
        Show
      </Button>
      <Toasts />
    </div>
  ),
};
