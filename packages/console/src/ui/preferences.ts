/**
 * Preferences stored in the browser: theme, density, times and single-letter shortcuts. API keys are
 * never stored.
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
    // If storage is blocked, the choice lasts until the page is closed.
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

/** `local` is the zone of the browser. */
export const ZONES = ['local', 'utc'] as const;
export type Zone = (typeof ZONES)[number];

/** How ages are shown: `3m ago`, or the time itself. */
export const AGE_STYLES = ['relative', 'absolute'] as const;
export type AgeStyle = (typeof AGE_STYLES)[number];

let zone: Zone = read('zone') === 'utc' ? 'utc' : 'local';
setUtc(zone === 'utc');
let ageStyle: AgeStyle = read('ages') === 'absolute' ? 'absolute' : 'relative';

/** `public/early.js` reads the stored values before the first paint. */
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
 * Returns the height of a one-line row in pixels: the chosen density, or the minimum touch target.
 */
export function useRowPx(): number {
  const px = DENSITIES[useDensity()];
  return useMedia('(pointer: coarse)') ? Math.max(TOUCHED_PX, px) : px;
}

/**
 * Returns the height of a row with several lines in pixels; it always exceeds the minimum touch
 * target.
 */
export const useLinesRowPx = (morePx: number): number => DENSITIES[useDensity()] + morePx;

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

/** Components that format absolute times call this, to follow the zone. */
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
