/**
 * Single-letter shortcuts, outside inputs only; two letters (`g s`) within a second. None acts while a
 * dialog is open or code is loading.
 */
import { useLayoutEffect, useRef } from 'react';
import { commands, isLoading, isTyping } from './heldKeys.ts';
import { areShortcutsOn } from '../preferences.ts';

const SEQUENCE_MS = 1000;
const LEADER = 'g';
/** The others act once, however long they are kept down. */
const REPEATING = /^[jk]$/i;

const NO_KEY = { key: '', at: 0 };
let previous = NO_KEY;
let current = NO_KEY;

const isModalOpen = (): boolean => document.querySelector('dialog[open]') !== null;

/** What is pressed while an input method composes text is for the method. */
const isComposing = ({ isComposing: composing, key }: KeyboardEvent): boolean =>
  composing || key === 'Process' || key === 'Dead';

/** AltGr, by which many keyboards reach `[` and `]`, is reported as Ctrl and Alt on Windows. */
const isModified = (event: KeyboardEvent): boolean =>
  event.metaKey || ((event.ctrlKey || event.altKey) && !event.getModifierState('AltGraph'));

/** Letters by the shift key alone: with Caps Lock, `j` is still `j`. */
const keyOf = ({ key, shiftKey }: KeyboardEvent): string =>
  /^[a-z]$/i.test(key) ? (shiftKey ? key.toUpperCase() : key.toLowerCase()) : key;

// Before every handler, so that each sees the same pair of keys.
document.addEventListener(
  'keydown',
  (event) => {
    if (/^(Shift|Control|Alt|Meta|AltGraph|CapsLock)$/.test(event.key)) return;
    // Kept down, Enter would press whatever has the focus after the first press.
    if (event.key === 'Enter' && event.repeat && !isTyping(event.target)) event.preventDefault();
    const isPlain = !isModified(event) && !isTyping(event.target) && !isModalOpen();
    previous = current;
    current = isPlain ? { key: keyOf(event), at: Date.now() } : NO_KEY;
  },
  { capture: true },
);

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
      if (event.defaultPrevented || isModified(event) || isComposing(event)) return;
      if (isModalOpen() || isLoading()) return;
      if (event.key !== 'Escape' && (isTyping(event.target) || !areShortcutsOn())) return;
      const key = keyOf(event);
      if (event.repeat && !REPEATING.test(key)) return;
      // After a leader, a letter means its place and nothing else.
      const isSecond = previous.key === LEADER && Date.now() - previous.at < SEQUENCE_MS;
      const handler = latest.current[isSecond ? `${LEADER} ${key}` : key];
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
      if (event.key.toLowerCase() !== key.toLowerCase() || isComposing(event)) return;
      // In a dialog, Enter is for the form there.
      if (isModalOpen() && event.key === 'Enter') return;
      // Otherwise the browser would open its own search, also where we do nothing.
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
