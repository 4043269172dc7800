/** Durations and counts as people type them. */
import { CommandError } from './terminal/errors.ts';

const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `30s`, `5m`, `2h`, `1d`, `250ms`; a number alone is seconds. */
export function toDurationMs(flag: string, text: string): number {
  const found = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text);
  if (found) return Number(found[1]) * UNITS_MS[(found[2] ?? 's') as keyof typeof UNITS_MS];
  throw new CommandError(
    'usage',
    `${flag} ${text}: should be a duration such as 30s, 5m, 2h or 1d`,
  );
}

/** A whole number of at least `least`. */
export function toCount(flag: string, text: string, least = 0): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (count >= least) return count;
  throw new CommandError('usage', `${flag} ${text}: should be a whole number of at least ${least}`);
}
