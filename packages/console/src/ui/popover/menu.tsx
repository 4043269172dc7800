import './popover.css';
import { clsx } from 'clsx';
import { useLayoutEffect, useRef } from 'react';
import { Button, Keycap } from '../button.tsx';
import type { Actions } from '../keys/actionList.tsx';

/**
 * A menu of actions next to a link or button; in the center of the window if there is none. The
 * arrow keys, `j`, `k`, Home and End move the focus, the first letter of a label focuses it, and the
 * keycap of an action runs it. When the menu closes, the browser restores the focus.
 */
export function Menu({
  of,
  actions,
  at,
  onClose,
}: Actions & {
  at: Element | null;
  onClose: () => void;
}) {
  const menu = useRef<HTMLDivElement>(null);
  const source = at?.closest<HTMLElement>('a, button');
  useLayoutEffect(() => {
    menu.current?.showPopover(source == null ? {} : { source });
    menu.current?.querySelector('button')?.focus();
  }, [source]);

  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const items = [...event.currentTarget.querySelectorAll('button')];
    const focused = items.findIndex((item) => item === document.activeElement);
    const goTo = (index: number): void => items.at(index % items.length)?.focus();
    if (event.key === 'ArrowDown' || event.key === 'j') goTo(focused + 1);
    else if (event.key === 'ArrowUp' || event.key === 'k') goTo(focused - 1);
    else if (event.key === 'Home') goTo(0);
    else if (event.key === 'End') goTo(-1);
    else if (event.key === 'Tab') menu.current?.hidePopover();
    else if (/^\w$/.test(event.key)) {
      const ownKey = items.find((item) => item.dataset['keycap'] === event.key);
      const key = event.key.toLowerCase();
      const following = [...items.slice(focused + 1), ...items.slice(0, focused + 1)];
      if (ownKey !== undefined) ownKey.click();
      else following.find((item) => item.innerText.toLowerCase().startsWith(key))?.focus();
    } else return;
    if (event.key !== 'Tab') event.preventDefault();
  };
  return (
    <div
      ref={menu}
      popover="auto"
      role="menu"
      tabIndex={-1}
      aria-label={of}
      className={clsx('popover min-w-48', source != null && 'anchored')}
      onKeyDown={onKeyDown}
      onToggle={({ newState }) => {
        if (newState === 'closed') onClose();
      }}
    >
      <div className="grid">
        {actions
          .filter((action) => action !== false && action !== undefined)
          .map(({ label, keycap, run }) => (
            <Button
              key={label}
              role="menuitem"
              tabIndex={-1}
              variant="quiet"
              data-keycap={keycap}
              className="w-full justify-start"
              onClick={() => {
                // Closes the menu first, so that a dialog that the action opens gets the focus.
                menu.current?.hidePopover();
                run();
              }}
            >
              {label}
              {keycap !== undefined && (
                <span className="ml-auto pl-4">
                  <Keycap>{keycap}</Keycap>
                </span>
              )}
            </Button>
          ))}
      </div>
    </div>
  );
}
