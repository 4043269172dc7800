/**
 * Handles shortcuts: single keys, two keys within a second (`g s`), and keys with Ctrl or ⌘. All
 * are inactive while a dialog, menu or popover is open. Keys without Ctrl or ⌘ are also inactive during a load and,
 * except Escape, in inputs and while single-key shortcuts are off.
 */
import { useLayoutEffect, useRef } from 'react';
import { commands, isLoading, isTyping } from './heldKeys.ts';
import { areShortcutsOn } from '../preferences.ts';

const SEQUENCE_MS = 1000;
const LEADER = 'g';
/** Keys that act repeatedly while held; all others act once. */
const REPEATING = /^[jk]$/i;

const NO_KEY = { key: '', at: 0 };
let previous = NO_KEY;
let current = NO_KEY;

const isModalOpen = (): boolean =>
  document.querySelector('dialog[open], [popover=auto]:popover-open') !== null;

/** Returns whether the key belongs to an input method that composes text, or is a dead key. */
const isComposing = ({ isComposing: composing, key }: KeyboardEvent): boolean =>
  composing || key === 'Process' || key === 'Dead';

/**
 * Returns whether Ctrl, Alt or ⌘ is pressed. AltGr, which many keyboards need for `[` and `]`, is
 * not counted, although Windows reports it as Ctrl and Alt.
 */
const isModified = (event: KeyboardEvent): boolean =>
  event.metaKey || ((event.ctrlKey || event.altKey) && !event.getModifierState('AltGraph'));

/** Returns the key regardless of Caps Lock: only Shift changes the case of a letter. */
const keyOf = ({ key, shiftKey }: KeyboardEvent): string =>
  /^[a-z]$/i.test(key) ? (shiftKey ? key.toUpperCase() : key.toLowerCase()) : key;

// Runs before all handlers, so that they all see the same pair of keys.
document.addEventListener(
  'keydown',
  (event) => {
    if (/^(Shift|Control|Alt|Meta|AltGraph|CapsLock)$/.test(event.key)) return;
    // A held Enter would press whatever has the focus after the first press.
    if (event.key === 'Enter' && event.repeat && !isTyping(event.target)) event.preventDefault();
    const isPlain = !isModified(event) && !isTyping(event.target) && !isModalOpen();
    previous = current;
    current = isPlain ? { key: keyOf(event), at: Date.now() } : NO_KEY;
  },
  { capture: true },
);

/**
 * Binds shortcuts while the component is rendered.
 * @param keys handlers by `KeyboardEvent.key`, or by two keys, such as `g s`. A handler that
 * returns false leaves the key to the browser.
 */
export function useShortcuts(keys: Readonly<Record<string, () => boolean | void>>): void {
  const latest = useRef(keys);
  // Runs before the paint, so that no key reaches the handlers of the previous screen.
  useLayoutEffect(() => {
    latest.current = keys;
  });
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || isModified(event) || isComposing(event)) return;
      if (isModalOpen() || isLoading()) return;
      if (event.key !== 'Escape' && (isTyping(event.target) || !areShortcutsOn())) return;
      const key = keyOf(event);
      if (event.repeat && !REPEATING.test(key)) return;
      // A key that follows the leader key counts only as the second key of a pair.
      const isSecond = previous.key === LEADER && Date.now() - previous.at < SEQUENCE_MS;
      const handler = latest.current[isSecond ? `${LEADER} ${key}` : key];
      if (handler !== undefined && handler() !== false) event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

/** Handles a key that is pressed with Ctrl or ⌘, even in inputs, but not while a dialog is open. */
export function useCommandKey(key: string, handle: () => void): void {
  const latest = useRef(handle);
  useLayoutEffect(() => {
    latest.current = handle;
  });
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (!(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey) return;
      if (event.key.toLowerCase() !== key.toLowerCase() || isComposing(event)) return;
      // In a dialog, Enter is left to the dialog's form.
      if (isModalOpen() && event.key === 'Enter') return;
      // Prevents the browser's own action for this key, such as its search, even if the handler does
      // not run.
      event.preventDefault();
      if (!event.repeat && !isModalOpen()) latest.current();
    };
    document.addEventListener('keydown', onKeyDown);
    commands.add(key.toLowerCase());
    return () => {
      document.removeEventListener('keydown', onKeyDown);
      commands.delete(key.toLowerCase());
    };
  }, [key]);
}
