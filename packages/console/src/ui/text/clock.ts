/** A shared clock, so that all relative times on the page change together. */
import { useSyncExternalStore } from 'react';
import { formatDay } from './format.ts';

let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) {
    now = Date.now();
    timer = setInterval(() => {
      now = Date.now();
      for (const each of listeners) each();
    }, 1000);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) clearInterval(timer);
  };
}

/** Returns the current time in Unix milliseconds, updated every second. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now);

const MINUTE_MS = 60_000;

/** Returns the start of the current minute in Unix milliseconds. */
export const useMinute = (): number =>
  useSyncExternalStore(subscribe, () => Math.floor(now / MINUTE_MS) * MINUTE_MS);

/**
 * Returns the current day in the chosen zone, such as `2026-11-05`. A component that calls this
 * hook renders again only when the day changes.
 */
export const useToday = (): string => useSyncExternalStore(subscribe, () => formatDay(now));
