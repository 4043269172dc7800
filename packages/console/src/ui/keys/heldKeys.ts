/**
 * Queues keys typed while code or the first data of a page is loading, so that they do not act on
 * the previous page. Replays them in order once the page is on the screen.
 */
import { useLayoutEffect } from 'react';

/**
 * After this time, a load counts as stuck. Queued keys are dropped, and new keys are not queued.
 */
const PATIENCE_MS = 5_000;
/** Interval for checking whether the load has ended. */
const CHECK_MS = 10;

type Key = Pick<KeyboardEvent, 'key' | 'code' | 'repeat' | 'shiftKey' | 'ctrlKey' | 'metaKey'>;

interface EarlyKeys {
  events: KeyboardEvent[];
  /**
   * Removes the listener of `early.js`, which records the keys that are pressed before this code
   * has loaded.
   */
  stop(): void;
}

const loads = new Set<() => boolean>();
let held: Key[] = [];
let loadingSince = 0;
let isDelivering = false;

/** Returns whether the target is a form field or editable text, which handles keys itself. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Returns whether any load is still pending. */
export const isLoading = (): boolean => [...loads].some((load) => load());

/**
 * Registers a load that lasts as long as `isPending` returns true. Returns a function that
 * unregisters it.
 */
export function watchLoad(isPending: () => boolean): () => void {
  loads.add(isPending);
  if (isPending()) loadingSince = performance.now();
  return () => loads.delete(isPending);
}

/** Registers a load while the calling component, a placeholder, is rendered. */
export function useLoading(): void {
  useLayoutEffect(() => watchLoad(() => true), []);
}

/** Keys with Ctrl or ⌘ that already have a handler, so that they need not wait for the page. */
export const commands = new Set<string>();

const isCommand = ({ key, ctrlKey, metaKey }: Key): boolean =>
  (ctrlKey || metaKey) && /^(k|enter)$/i.test(key);

const mayWait = (event: KeyboardEvent): boolean =>
  isCommand(event) ||
  (!event.ctrlKey &&
    !event.metaKey &&
    !event.altKey &&
    (event.key.length === 1 || event.key === 'Enter'));

function onKeyDown(event: KeyboardEvent): void {
  // Skips replayed keys, and keys that an input method is still composing.
  if (!event.isTrusted || event.isComposing) return;
  if (event.key === 'Escape') held = [];
  if (!isDelivering) {
    if (!isLoading()) {
      loadingSince = 0;
      return;
    }
    loadingSince ||= performance.now();
    if (isCommand(event) && commands.has(event.key.toLowerCase()) && held.length === 0) return;
    if (isTyping(event.target) || performance.now() - loadingSince > PATIENCE_MS) return;
  }
  if (!mayWait(event)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  // Drops repeats of a held key while any key is queued, so that repeats do not pile up.
  if (!event.repeat || held.length === 0) held.push(event);
  void deliver();
}

async function deliver(): Promise<void> {
  if (isDelivering) return;
  isDelivering = true;
  while (held.length > 0) {
    await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
    if (!isLoading()) {
      loadingSince = 0;
      const next = held.shift();
      if (next !== undefined) press(next);
    } else {
      loadingSince ||= performance.now();
      if (performance.now() - loadingSince > PATIENCE_MS) held = [];
    }
  }
  isDelivering = false;
}

/**
 * Dispatches a queued key, and imitates the browser's default action, which events from scripts do
 * not trigger.
 */
function press({ key, code, repeat, shiftKey, ctrlKey, metaKey }: Key): void {
  const target = document.activeElement ?? document.body;
  const init = { key, code, repeat, shiftKey, ctrlKey, metaKey, bubbles: true, cancelable: true };
  if (!target.dispatchEvent(new KeyboardEvent('keydown', init)) || ctrlKey || metaKey) return;
  if (key.length === 1) {
    // `execCommand` is deprecated, but is the only way to insert text that fields, undo and React
    // all treat as typing.
    if (isTyping(target)) document.execCommand('insertText', false, key);
  } else if (target instanceof HTMLElement && target.matches('a[href], button')) {
    // In a dialog, a queued Enter would confirm something that was not on the screen when it was
    // pressed.
    if (target.closest('dialog') === null) target.click();
  }
}

const early = (window as { earlyKeys?: EarlyKeys }).earlyKeys;
early?.stop();
addEventListener('keydown', onKeyDown, { capture: true });
held = early?.events.filter((event) => mayWait(event) && !event.repeat) ?? [];
if (held.length > 0) {
  loadingSince = performance.now();
  void deliver();
}
