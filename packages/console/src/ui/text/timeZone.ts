/**
 * The time zone in which absolute times are shown: the browser's, or UTC. `preferences.ts` sets it.
 */
let isUtc = false;

export const setUtc = (on: boolean): void => void (isUtc = on);

/** Returns a date whose UTC fields contain the date and time in the chosen zone. */
export const inZone = (timeMs: number): Date => new Date(timeMs - offsetMs(timeMs));

/**
 * Parses a local date and time in the chosen zone, such as `2026-11-05T09:04`. Returns Unix
 * milliseconds, or NaN if the text is invalid.
 */
export const parseInZone = (text: string): number => Date.parse(isUtc ? `${text}Z` : text);

/** Returns `UTC`, or the browser's offset from it, such as `UTC+2` or `UTC−3:30`. */
export function zoneName(timeMs: number): string {
  const minutes = Math.abs(offsetMs(timeMs)) / 60_000;
  if (minutes === 0) return 'UTC';
  const sign = offsetMs(timeMs) > 0 ? '−' : '+';
  const rest = minutes % 60;
  return `UTC${sign}${Math.floor(minutes / 60)}${rest === 0 ? '' : `:${rest}`}`;
}

const offsetMs = (timeMs: number): number =>
  isUtc ? 0 : new Date(timeMs).getTimezoneOffset() * 60_000;
