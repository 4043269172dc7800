import { useRef, useState } from 'react';
import { useShortcuts } from './keyboard.ts';
import { Button, Keycap } from '../button.tsx';
import { Dialog } from '../dialog.tsx';

export interface Action {
  label: string;
  /** Shortcut that is shown next to the label. It must be bound separately. */
  keycap?: string;
  run: () => void;
}

export interface Actions {
  /** Name of the item that the actions apply to. */
  of: string;
  actions: readonly (Action | false | undefined)[];
}

/**
 * Opens a list of actions with their shortcuts when `.` is pressed.
 * @param find returns the item to act on and its actions, or null if there is none.
 * @returns the list while it is open.
 */
export function useActions(find: () => Actions | null): React.ReactNode {
  const [open, setOpen] = useState<Actions | null>(null);
  useShortcuts({
    '.': () => {
      const found = find();
      if (found === null) return false;
      setOpen(found);
      return true;
    },
  });
  return open !== null && <ActionList {...open} onClose={() => setOpen(null)} />;
}

const STEPS: Readonly<Record<string, 1 | -1>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

function ActionList({ of, actions, onClose }: Actions & { onClose: () => void }) {
  const list = useRef<HTMLUListElement>(null);
  const move = (step: 1 | -1): void => {
    const buttons = [...(list.current?.querySelectorAll('button') ?? [])];
    const at = buttons.findIndex((button) => button === document.activeElement);
    buttons[(at + step + buttons.length) % buttons.length]?.focus();
  };
  return (
    <Dialog title={of} onClose={onClose}>
      <ul ref={list} className="-m-3 grid">
        {actions
          .filter((action) => action !== false && action !== undefined)
          .map(({ label, keycap, run }) => (
            <li key={label}>
              <Button
                variant="quiet"
                className="w-full justify-start"
                onKeyDown={(event) => {
                  const step = STEPS[event.key];
                  if (step === undefined) return;
                  event.preventDefault();
                  move(step);
                }}
                onClick={(event) => {
                  // Closes the list first, so that a dialog that the action opens gets the focus.
                  event.currentTarget.closest('dialog')?.close();
                  run();
                }}
              >
                {label}
                {keycap !== undefined && (
                  <span className="ml-auto">
                    <Keycap>{keycap}</Keycap>
                  </span>
                )}
              </Button>
            </li>
          ))}
      </ul>
    </Dialog>
  );
}

/**
 * Returns the id of the focused row, from `data-row-link` of its link; undefined if no row has the
 * focus.
 */
export const focusedRow = (): string | undefined =>
  document.activeElement
    ?.closest('[data-row], [role="row"]')
    ?.querySelector<HTMLElement>('[data-row-link]')?.dataset['rowLink'];
