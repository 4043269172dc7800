/** Parses the durations, rates, times, counts and ranges that users type, and formats ages. */
import { CommandError } from '../terminal/errors.ts';

const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Parses `30s`, `5m`, `2h`, `1d` or `250ms`; a number without a unit is in seconds. */
export function toDurationMs(flag: string, text: string): number {
  const found = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text);
  if (found) return Number(found[1]) * UNITS_MS[(found[2] ?? 's') as keyof typeof UNITS_MS];
  throw new CommandError(
    'usage',
    `${flag} ${text}: should be a duration such as 30s, 5m, 2h or 1d`,
  );
}

/** Parses `50/s` or `600/m`; a number without a unit is per second. */
export function toPerSecond(flag: string, text: string): number {
  const found = /^(\d+(?:\.\d+)?)(?:\/(s|m|h))?$/.exec(text);
  const perSecond = found
    ? (Number(found[1]) * 1_000) / UNITS_MS[(found[2] ?? 's') as keyof typeof UNITS_MS]
    : 0;
  if (perSecond > 0) return perSecond;
  throw new CommandError(
    'usage',
    `${flag} ${text}: should be a rate above 0 such as 50/s or 600/m`,
  );
}

/** Converts a time (ISO 8601), or an age such as `2h`, to Unix milliseconds. */
export function toTimeMs(flag: string, text: string): number {
  if (/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text)) return Date.now() - toDurationMs(flag, text);
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return time;
  throw new CommandError(
    'usage',
    `${flag} ${text}: should be a time (2026-01-31T08:00Z) or an age (2h)`,
  );
}

/** Parses a whole number of at least `least`. */
export function toCount(flag: string, text: string, least = 0): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (count >= least) return count;
  throw new CommandError('usage', `${flag} ${text}: should be a whole number of at least ${least}`);
}

/** Parses `5`, or `5..9` with both ends included. */
export function toRange(flag: string, text: string): { from: number; to: number } {
  const found = /^(\d+)(?:\.\.(\d+))?$/.exec(text);
  const from = Number(found?.[1]);
  const to = Number(found?.[2] ?? found?.[1]);
  if (found && to >= from) return { from, to };
  throw new CommandError('usage', `${flag} ${text}: should be a number, or from..to`);
}

/**
 * Like `toRange`, but also accepts `5..` and `..9`. Returns an unbounded range if the flag is
 * missing.
 */
export function toOpenRange(
  flag: string,
  text: string | undefined,
): { from?: number | undefined; to?: number | undefined } {
  if (text === undefined) return {};
  const [, from, to] = /^(\d*)\.\.(\d*)$/.exec(text) ?? [];
  if (from === '' && to) return { to: Number(to) };
  if (from && to === '') return { from: Number(from) };
  return toRange(flag, text);
}

/** Formats the age of a time: `3 s ago`, `5 min ago`, `2 h ago`, `4 d ago`; `–` for null. */
export function describeAgo(timeMs: number | null, nowMs = Date.now()): string {
  if (timeMs === null) return '–';
  const seconds = Math.max(0, Math.round((nowMs - timeMs) / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}
