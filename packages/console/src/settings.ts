/** What the browser remembers: the theme and whether single-letter shortcuts are on. Never a key. */
import { useSyncExternalStore } from 'react';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const listeners = new Set<() => void>();

function read(name: string): string | null {
  try {
    return localStorage.getItem(`sluice.${name}`);
  } catch {
    return null;
  }
}

function write(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`sluice.${name}`);
    else localStorage.setItem(`sluice.${name}`, value);
  } catch {
    // Storage is blocked: the choice lasts until the page is left.
  }
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const remembered = read('theme');
let theme: Theme = THEMES.find((item) => item === remembered) ?? 'system';
let shortcutsOn = read('shortcuts') !== 'off';

export const useTheme = (): Theme => useSyncExternalStore(subscribe, () => theme);

export function setTheme(next: Theme): void {
  theme = next;
  if (next === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = next;
  // `public/theme.js` reads it before the first paint.
  write('theme', next === 'system' ? null : next);
}

export const useShortcutsOn = (): boolean => useSyncExternalStore(subscribe, () => shortcutsOn);
export const areShortcutsOn = (): boolean => shortcutsOn;

export function setShortcutsOn(on: boolean): void {
  shortcutsOn = on;
  write('shortcuts', on ? null : 'off');
}
