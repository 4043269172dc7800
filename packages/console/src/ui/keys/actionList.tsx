import { Ellipsis } from 'lucide-react';
import { lazy, Suspense, useLayoutEffect, useRef, useState } from 'react';
import { Button } from '../button.tsx';
import { Loading } from '../loading.tsx';
import { useShortcuts } from './keyboard.ts';

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

export const loadMenu = () => import('../popover/menu.tsx');
const Menu = lazy(async () => ({ default: (await loadMenu()).Menu }));

/** Open the menu for the item that contains an element. They return false if they have none. */
const openers = new Set<(at: Element | null) => boolean>();

/**
 * Opens a menu of actions with their shortcuts when `.` or a {@link MoreButton} is pressed.
 * @param find returns the item that contains the focused element or the button, and its actions, or
 * null if there is none.
 * @returns the menu while it is open.
 */
export function useActions(find: (at: Element | null) => Actions | null): React.ReactNode {
  const [open, setOpen] = useState<(Actions & { at: Element | null }) | null>(null);
  const openAt = (at: Element | null): boolean => {
    const found = find(at);
    if (found !== null) setOpen({ ...found, at });
    return found !== null;
  };
  const latest = useRef(openAt);
  useLayoutEffect(() => {
    latest.current = openAt;
  });
  useLayoutEffect(() => {
    const opener = (at: Element | null): boolean => latest.current(at);
    openers.add(opener);
    return () => void openers.delete(opener);
  }, []);
  useShortcuts({ '.': () => openAt(document.activeElement) });
  return (
    open !== null && (
      <Suspense fallback={<Loading className="sr-only" />}>
        <Menu {...open} onClose={() => setOpen(null)} />
      </Suspense>
    )
  );
}

/** A button in a row that opens the menu of {@link useActions} for the row. */
export function MoreButton({ of, className }: { of: string; className?: string }) {
  return (
    <Button
      variant="quiet"
      square
      className={className}
      aria-label={`Actions for ${of}`}
      aria-haspopup="menu"
      data-tip="Actions (.)"
      onClick={({ currentTarget }) => [...openers].some((open) => open(currentTarget))}
    >
      <Ellipsis size={14} strokeWidth={1.5} aria-hidden="true" />
    </Button>
  );
}

/**
 * Returns the id of the row that contains an element, by default the focused one, from
 * `data-row-link` of its link; undefined if no row contains it.
 */
export const focusedRow = (at = document.activeElement): string | undefined =>
  at?.closest('[data-row], [role="row"]')?.querySelector<HTMLElement>('[data-row-link]')?.dataset[
    'rowLink'
  ];
