/** The schedules of retries, for the service, the test sender and the forms. */
import type { Retries } from '../shapes.generated.ts';
import { parseRetryAfter } from './retryAfter.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Waits after the first failure, the second, and so on. The delivery fails if the attempt after the
 * last wait fails.
 */
export const CONTRACT_SCHEDULE_MS: readonly number[] = [
  MINUTE,
  10 * MINUTE,
  HOUR,
  2 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
];

/** Names of the schedules that a stream can select; `standard` is the service's own. */
export const RETRY_PRESETS = ['standard', 'short', 'long', 'none'] as const;

/** Waits of the presets other than `standard`, in milliseconds. */
const PRESET_WAITS_MS: Readonly<
  Record<Exclude<(typeof RETRY_PRESETS)[number], 'standard'>, readonly number[]>
> = {
  short: [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE],
  long: [...CONTRACT_SCHEDULE_MS, ...Array.from({ length: 6 }, () => DAY)],
  none: [],
};

/** Maximum number of waits in a stream's own schedule. */
export const MAX_RETRIES = 50;
/** Maximum wait in a stream's own schedule, in seconds: a week. */
export const MAX_RETRY_WAIT_SECONDS = (7 * DAY) / SECOND;

/**
 * Returns the waits of a stream in milliseconds; undefined if it has the service's schedule. Its own
 * schedule is complete: no fast retry precedes it.
 */
export const retryWaitsMs = (retries: Retries): readonly number[] | undefined =>
  typeof retries !== 'string'
    ? retries.map((seconds) => seconds * SECOND)
    : retries === 'standard'
      ? undefined
      : PRESET_WAITS_MS[retries];

const UNITS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/**
 * Parses what a user types: a preset, or waits such as `30s, 5m, 1h`; a number without a unit is in
 * seconds. Returns undefined for any other text.
 */
export function parseRetries(text: string): Retries | undefined {
  const preset = RETRY_PRESETS.find((name) => name === text.trim().toLowerCase());
  if (preset !== undefined) return preset;
  const waits = text.split(/[\s,]+/).filter((each) => each !== '');
  const seconds = waits.map((wait) => {
    const [, count, unit = 's'] = /^(\d{1,6})([smhd]?)$/.exec(wait) ?? [];
    return Number(count) * UNITS[(unit || 's') as keyof typeof UNITS];
  });
  const isValid = (wait: number): boolean => wait >= 1 && wait <= MAX_RETRY_WAIT_SECONDS;
  return seconds.length > 0 && seconds.length <= MAX_RETRIES && seconds.every(isValid)
    ? seconds
    : undefined;
}

/** Formats a schedule as {@link parseRetries} reads it. */
export const formatRetries = (retries: Retries): string =>
  typeof retries === 'string' ? retries : retries.map(formatWait).join(', ');

function formatWait(seconds: number): string {
  const [unit, size] = Object.entries(UNITS).findLast(([, each]) => seconds % each === 0)!;
  return `${seconds / size}${unit}`;
}

/**
 * Wait before the fast retry of a failed first attempt. This retry is not part of the schedule,
 * and the hosted service does not have it.
 */
export const FAST_RETRY_MS = 5_000;

/** Returns whether a failure may be brief: no response, or a 5xx. */
export const isBrief = (status: number | null): boolean => status === null || status >= 500;

/** Maximum wait that a receiver can request: the longest wait of the schedule. */
const MAX_RETRY_AFTER_MS = DAY;

/**
 * Returns the wait that the `Retry-After` header of a 429 or 503 requests, in milliseconds, at most
 * 24 hours. Returns undefined for any other status, or if no wait is requested.
 */
export function readRetryAfterMs(
  status: number | null,
  header: string | null | undefined,
  nowMs: number,
): number | undefined {
  if (status !== 429 && status !== 503) return undefined;
  const wait = parseRetryAfter(header, nowMs) ?? 0;
  return wait > 0 ? Math.min(wait, MAX_RETRY_AFTER_MS) : undefined;
}
