/**
 * Preferences stored in the browser: theme, density, time zone, age style, single-key shortcuts
 * and saved views. API keys are never stored.
 */
import { useSyncExternalStore } from 'react';
import { DENSITIES, isDensity, TOUCHED_PX, type Density } from './list/density.ts';
import { useMedia } from './media.ts';
import { setUtc } from './text/timeZone.ts';

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
    // If storage is blocked, the choice lasts until the page is reloaded or closed.
  }
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const rememberedTheme = read('theme');
let theme: Theme = THEMES.find((item) => item === rememberedTheme) ?? 'system';
const rememberedDensity = read('density') ?? '';
let density: Density = isDensity(rememberedDensity) ? rememberedDensity : 'standard';
let shortcutsOn = read('shortcuts') !== 'off';

/** `local` is the browser's time zone. */
export const ZONES = ['local', 'utc'] as const;
export type Zone = (typeof ZONES)[number];

/** An age is shown as `3m ago` (relative), or as the time itself (absolute). */
export const AGE_STYLES = ['relative', 'absolute'] as const;
export type AgeStyle = (typeof AGE_STYLES)[number];

let zone: Zone = read('zone') === 'utc' ? 'utc' : 'local';
setUtc(zone === 'utc');
let ageStyle: AgeStyle = read('ages') === 'absolute' ? 'absolute' : 'relative';

/**
 * Applies and stores a value; null restores the default. `public/early.js` applies stored values
 * before the first paint of a page.
 */
function wear(name: 'theme' | 'density', value: string | null): void {
  if (value === null) delete document.documentElement.dataset[name];
  else document.documentElement.dataset[name] = value;
  write(name, value);
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, () => theme);

export function setTheme(next: Theme): void {
  theme = next;
  wear('theme', next === 'system' ? null : next);
}

export const useDensity = (): Density => useSyncExternalStore(subscribe, () => density);

/**
 * Returns the height in pixels of a row with one line: the chosen density's height, but on touch
 * screens at least the minimum touch target.
 */
export function useRowPx(): number {
  const px = DENSITIES[useDensity()];
  return useMedia('(pointer: coarse)') ? Math.max(TOUCHED_PX, px) : px;
}

/**
 * Returns the height in pixels of a row with several lines. This height always exceeds the minimum
 * touch target.
 * @param morePx height of the lines after the first.
 */
export const useTallRowPx = (morePx: number): number => DENSITIES[useDensity()] + morePx;

export function setDensity(next: Density): void {
  density = next;
  wear('density', next === 'standard' ? null : next);
}

export const useShortcutsOn = (): boolean => useSyncExternalStore(subscribe, () => shortcutsOn);
export const areShortcutsOn = (): boolean => shortcutsOn;

export function setShortcutsOn(on: boolean): void {
  shortcutsOn = on;
  write('shortcuts', on ? null : 'off');
}

/**
 * Returns the chosen zone. Components that format absolute times call it to render again when the
 * zone changes.
 */
export const useZone = (): Zone => useSyncExternalStore(subscribe, () => zone);

export function setZone(next: Zone): void {
  zone = next;
  setUtc(next === 'utc');
  write('zone', next === 'local' ? null : next);
}

export const useAgeStyle = (): AgeStyle => useSyncExternalStore(subscribe, () => ageStyle);

export function setAgeStyle(next: AgeStyle): void {
  ageStyle = next;
  write('ages', next === 'relative' ? null : next);
}

let savedViews = read('views') ?? '[]';

/** Returns the saved views as a JSON array. */
export const useSavedViews = (): string => useSyncExternalStore(subscribe, () => savedViews);

export function setSavedViews(json: string): void {
  savedViews = json;
  write('views', json === '[]' ? null : json);
}
