/**
 * Formats numbers, times in the chosen time zone, and hashes. The current time is always a
 * parameter.
 */
import { inZone } from './timeZone.ts';

const grouped = new Intl.NumberFormat('en-US');

export function formatCount(value: number | bigint): string {
  return grouped.format(value);
}

/** Formats a count with its noun: `1 address`, `48,210 addresses`. */
export function formatQuantity(value: number, one: string, many = `${one}s`): string {
  return `${formatCount(value)} ${value === 1 ? one : many}`;
}

/** Formats an estimate to two significant figures: `≈ 1,300`. */
export function formatAbout(value: number): string {
  return `≈ ${grouped.format(Number(value.toPrecision(2)))}`;
}

const pad = (value: number, width = 2): string => String(value).padStart(width, '0');

/** Formats the time of day with milliseconds: `10:38:04.120`. */
export function formatClock(timeMs: number): string {
  const time = inZone(timeMs);
  return `${pad(time.getUTCHours())}:${pad(time.getUTCMinutes())}:${pad(time.getUTCSeconds())}.${pad(time.getUTCMilliseconds(), 3)}`;
}

/** Formats the date as `2026-11-05`. */
export function formatDay(timeMs: number): string {
  const time = inZone(timeMs);
  return `${time.getUTCFullYear()}-${pad(time.getUTCMonth() + 1)}-${pad(time.getUTCDate())}`;
}

/** Formats the date and the time of day to the second: `2026-11-05 10:38:04`. */
export const formatDateTime = (timeMs: number): string =>
  `${formatDay(timeMs)} ${formatClock(timeMs).slice(0, 8)}`;

/**
 * Formats a time to the minute: `10:38` today, `11-21 23:38` this year, otherwise
 * `2025-12-31 09:05`.
 */
export function formatMoment(timeMs: number, now: number): string {
  const [day, today] = [formatDay(timeMs), formatDay(now)];
  const short = formatClock(timeMs).slice(0, 5);
  if (day === today) return short;
  return `${day.slice(0, 4) === today.slice(0, 4) ? day.slice(5) : day} ${short}`;
}

/**
 * Formats a time for a row of a list: `10:38:04.120` on the current day, otherwise
 * `11-21 10:38:04`.
 * @param today as returned by {@link formatDay}.
 */
export function formatRowTime(timeMs: number, today: string): string {
  const day = formatDay(timeMs);
  const clock = formatClock(timeMs);
  return day === today ? clock : `${day.slice(5)} ${clock.slice(0, 8)}`;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Formats a span in its largest unit, rounded down: `41s`, `3m`, `6h`, `2d`. A negative span is
 * `0s`.
 */
export function formatSpan(spanMs: number): string {
  const span = Math.max(0, spanMs);
  if (span < MINUTE) return `${Math.floor(span / SECOND)}s`;
  if (span < HOUR) return `${Math.floor(span / MINUTE)}m`;
  if (span < DAY) return `${Math.floor(span / HOUR)}h`;
  return `${Math.floor(span / DAY)}d`;
}

/** Formats a duration in its two largest units, rounded down: `3 ms`, `1.4 s`, `2m 24s`, `12h`. */
export function formatLength(durationMs: number): string {
  if (durationMs < MINUTE) return formatDuration(durationMs);
  const [unit, letter] =
    durationMs < HOUR
      ? ([SECOND, 's'] as const)
      : durationMs < DAY
        ? ([MINUTE, 'm'] as const)
        : ([HOUR, 'h'] as const);
  const large = formatSpan(durationMs);
  const rest = Math.floor((durationMs % (unit === HOUR ? DAY : unit * 60)) / unit);
  return rest === 0 ? large : `${large} ${rest}${letter}`;
}

/** Formats a wait between attempts: `5 s`, `10 min`, `1 h`, `24 h`. */
export function formatWait(waitMs: number): string {
  if (waitMs < MINUTE) return `${Number((waitMs / SECOND).toFixed(1))} s`;
  if (waitMs < HOUR) return `${Math.round(waitMs / MINUTE)} min`;
  return `${Math.round(waitMs / HOUR)} h`;
}

/**
 * Formats an age: `3m ago`, or `now` if it is under two seconds or negative, because the clocks of
 * the browser and the service may differ.
 */
export function formatAgo(timeMs: number, now: number): string {
  return now - timeMs < 2 * SECOND ? 'now' : `${formatSpan(now - timeMs)} ago`;
}

/** Formats a future time: `in 58s`, or `due` if it is less than a second away or in the past. */
export function formatDue(timeMs: number, now: number): string {
  return timeMs - now < SECOND ? 'due' : `in ${formatSpan(timeMs - now)}`;
}

/** Formats a duration: `91 ms`, `5.0 s`, `12 s`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1000) return `${Math.round(durationMs)} ms`;
  const seconds = durationMs / 1000;
  return seconds < 9.95 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`;
}

export function formatBytes(sizeBytes: number): string {
  if (sizeBytes < 1000) return `${sizeBytes} B`;
  if (sizeBytes < 999_950) return `${(sizeBytes / 1000).toFixed(1)} kB`;
  return `${(sizeBytes / 1_000_000).toFixed(1)} MB`;
}

/** Returns the percentage of successes; null if there were no attempts. */
export const percentOf = (succeeded: number, failed: number): number | null =>
  succeeded + failed === 0 ? null : (succeeded / (succeeded + failed)) * 100;

/**
 * Formats a percentage with up to two decimals; null as `–`. `100 %` and `0 %` are shown only for
 * exact values.
 */
export function formatPercent(percent: number | null): string {
  if (percent === null) return '–';
  const isBetween = percent > 0 && percent < 100;
  const shown = isBetween ? Math.min(Math.max(percent, 0.01), 99.99) : percent;
  return `${Number(shown.toFixed(2))} %`;
}

export const formatShare = (succeeded: number, failed: number): string =>
  formatPercent(percentOf(succeeded, failed));

/** Shortens a hash or address in the middle: `0x28C6…1d60`. Short values are unchanged. */
export function formatHash(hash: string, keep = 4): string {
  const start = hash.startsWith('0x') ? 2 + keep : keep;
  return hash.length <= start + keep + 1 ? hash : `${hash.slice(0, start)}…${hash.slice(-keep)}`;
}

/** Returns the end of a UUID, because UUIDs that were created together have the same start. */
export function formatId(id: string): string {
  return id.slice(-8);
}
