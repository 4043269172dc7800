/** Single-letter shortcuts, outside inputs only; two letters (`g s`) within a second. */
import { useLayoutEffect, useRef } from 'react';
import { PAGES } from './pages.ts';
import { areShortcutsOn } from './settings.ts';

const SEQUENCE_MS = 1000;
const LEADER = 'g';

let previous = { key: '', at: 0 };
let current = { key: '', at: 0 };

// Before every handler, so that each sees the same pair of keys.
document.addEventListener(
  'keydown',
  ({ key }) => {
    previous = current;
    current = { key, at: Date.now() };
  },
  { capture: true },
);

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/**
 * @param keys by `KeyboardEvent.key`, or two keys as `g s`. A handler that returns false leaves the
 * key to the browser.
 */
export function useShortcuts(keys: Readonly<Record<string, () => boolean | void>>): void {
  const latest = useRef(keys);
  // With the paint: a key must never meet what was on the screen before.
  useLayoutEffect(() => {
    latest.current = keys;
  });
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
      if (event.target instanceof HTMLElement && event.target.closest('dialog') !== null) return;
      if (event.key !== 'Escape' && (isTyping(event.target) || !areShortcutsOn())) return;
      // After a leader, a letter means its place and nothing else.
      const isSecond = previous.key === LEADER && Date.now() - previous.at < SEQUENCE_MS;
      const handler = latest.current[isSecond ? `${LEADER} ${event.key}` : event.key];
      if (handler !== undefined && handler() !== false) event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

/** A key with Ctrl or ⌘, wherever the focus is. */
export function useCommandKey(key: string, handle: () => void): void {
  const latest = useRef(handle);
  useLayoutEffect(() => {
    latest.current = handle;
  });
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (!(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey) return;
      // With Caps Lock it is a capital.
      const isIt = event.key.toLowerCase() === key.toLowerCase();
      if (!isIt || document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [key]);
}

/** What the `?` list shows. */
export const SHORTCUTS: readonly { keys: string[]; does: string; on: string }[] = [
  { on: 'Everywhere', keys: ['Ctrl K'], does: 'Search and commands' },
  ...PAGES.map(({ key, title }) => ({ on: 'Everywhere', keys: [`g ${key}`], does: title })),
  { on: 'Everywhere', keys: ['n'], does: 'New stream' },
  { on: 'Everywhere', keys: ['?'], does: 'This list' },
  { on: 'Lists', keys: ['j', 'k'], does: 'Next row, previous row' },
  { on: 'Everywhere', keys: ['.'], does: 'What can be done with the row or the page' },
  { on: 'Lists', keys: ['Enter'], does: 'Open the row' },
  { on: 'Lists', keys: ['/'], does: 'Filter' },
  { on: 'Lists', keys: ['Space'], does: 'Mark the row, or take the mark back' },
  { on: 'Lists', keys: ['Shift J', 'Shift K'], does: 'Mark as you go' },
  { on: 'Lists', keys: ['c', 'y', 'x'], does: 'Copy the id of the row, a link, as curl' },
  { on: 'Streams', keys: ['p'], does: 'Pause or resume the stream' },
  { on: 'Streams', keys: ['r'], does: 'Replay what failed of it, or of those marked' },
  { on: 'Stream', keys: ['[', ']'], does: 'Previous tab, next tab' },
  { on: 'Stream', keys: ['t'], does: 'Send a test webhook' },
  { on: 'Stream', keys: ['i'], does: 'Import addresses' },
  { on: 'Stream', keys: ['c', 'y'], does: 'Copy the id, a link' },
  { on: 'Deliveries', keys: ['r'], does: 'Replay what is marked, or all that pass the filter' },
  { on: 'Deliveries', keys: ['l'], does: 'Hold the list, or let it run' },
  { on: 'Inbox', keys: ['[', ']'], does: 'Body, headers, signature, answer' },
  { on: 'Inbox', keys: ['c', 'y', 'x'], does: 'Copy the id, a link, as curl' },
  { on: 'Replays', keys: ['r'], does: 'New replay' },
  { on: 'Delivery', keys: ['[', ']'], does: 'Previous tab, next tab' },
  { on: 'Delivery', keys: ['r'], does: 'Send it again' },
  { on: 'Delivery', keys: ['o'], does: 'Open it as a page' },
  { on: 'Delivery', keys: ['j', 'k'], does: 'Older one, newer one' },
  { on: 'Delivery', keys: ['c'], does: 'Copy the id' },
  { on: 'Delivery', keys: ['y'], does: 'Copy a link' },
  { on: 'Delivery', keys: ['x'], does: 'Copy as curl' },
  { on: 'Delivery', keys: ['Esc'], does: 'Close' },
  { on: 'Forms', keys: ['Ctrl Enter'], does: 'Create or save' },
];
