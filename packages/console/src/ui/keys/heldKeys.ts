/**
 * Keys typed while code or the first data of a page is loading. They wait until it is on the screen and
 * then do what they would have done there, in order; so no key is lost, and none acts on the page before.
 */
import { useLayoutEffect } from 'react';

/** After this long a load is stuck: the keys that wait are dropped, and new ones do not wait. */
const PATIENCE_MS = 5_000;
/** Between two looks at whether the load has ended. */
const LOOK_MS = 10;

type Key = Pick<KeyboardEvent, 'key' | 'code' | 'repeat' | 'shiftKey' | 'ctrlKey' | 'metaKey'>;

interface EarlyKeys {
  events: KeyboardEvent[];
  /** Ends the listener of `early.js`. */
  stop(): void;
}

const loads = new Set<() => boolean>();
let held: Key[] = [];
let loadingSince = 0;
let isDelivering = false;

/** Whether the target takes text, so that its keys are its own. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Whether something that was opened is not on the screen yet. */
export const isLoading = (): boolean => [...loads].some((load) => load());

/** Counts as a load for as long as `isPending` returns true. */
export function watchLoad(isPending: () => boolean): () => void {
  loads.add(isPending);
  if (isPending()) loadingSince = performance.now();
  return () => loads.delete(isPending);
}

/** For what is shown in the place of something that loads. */
export function useLoading(): void {
  useLayoutEffect(() => watchLoad(() => true), []);
}

/** Keys with Ctrl or ⌘ that something handles already: it need not wait for the rest of the page. */
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
  // Those that are delivered now, and those an input method is still composing.
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
  // A key that is kept down does not pile up.
  if (!event.repeat || held.length === 0) held.push(event);
  void deliver();
}

async function deliver(): Promise<void> {
  if (isDelivering) return;
  isDelivering = true;
  while (held.length > 0) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
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

/** What the browser does with a key, as far as these keys go: scripts cannot press one. */
function press({ key, code, repeat, shiftKey, ctrlKey, metaKey }: Key): void {
  const target = document.activeElement ?? document.body;
  const init = { key, code, repeat, shiftKey, ctrlKey, metaKey, bubbles: true, cancelable: true };
  if (!target.dispatchEvent(new KeyboardEvent('keydown', init)) || ctrlKey || metaKey) return;
  if (key.length === 1) {
    // Deprecated, and the one way that fields, undo and React all take for typing.
    if (isTyping(target)) document.execCommand('insertText', false, key);
  } else if (target instanceof HTMLElement && target.matches('a[href], button')) {
    // In a dialog it would confirm what was not on the screen when it was pressed.
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
