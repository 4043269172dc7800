/** What a key has copied: there is no button beside it that could say so. */
import { useSyncExternalStore } from 'react';

const SHOWN_MS = 1_500;

let said = '';
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

function say(text: string): void {
  said = text;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** @param what such as `Id`. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied`);
  } catch {
    // As over plain HTTP from another machine.
    say(`${what} not copied: the browser does not allow it here`);
  }
  clearTimeout(timer);
  timer = setTimeout(() => say(''), SHOWN_MS);
}

/** Over the page for a moment, and told to screen readers. */
export function CopiedNote() {
  const text = useSyncExternalStore(subscribe, () => said);
  return (
    <output className="pointer-events-none fixed inset-x-0 bottom-16 z-30 flex justify-center">
      {text !== '' && (
        <span className="rounded-overlay border border-line bg-surface px-3 py-2 shadow-overlay">
          {text}
        </span>
      )}
    </output>
  );
}
