/** The name of the current page, which precedes its section in the document title. */
import { useEffect, useSyncExternalStore } from 'react';

let title = '';
const listeners = new Set<() => void>();

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

function set(next: string): void {
  title = next;
  for (const listener of listeners) listener();
}

/**
 * Sets the name of the page, such as `New stream` or `Rules · whale-usdt`, while the component is
 * mounted.
 */
export function useNamePage(name: string): void {
  useEffect(() => {
    set(name);
    return () => set('');
  }, [name]);
}

/** Returns the name of the current page; empty for the main page of a section. */
export const usePageName = (): string => useSyncExternalStore(subscribe, () => title);
