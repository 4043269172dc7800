/** The title of the current page within its section, for the document title. */
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

/** Names the page while it is shown, such as `New stream` or `Rules · whale-usdt`. */
export function useNamePage(name: string): void {
  useEffect(() => {
    set(name);
    return () => set('');
  }, [name]);
}

/** Empty for the only page of a section. */
export const usePageName = (): string => useSyncExternalStore(subscribe, () => title);
