/** Periods of time: their presets, and how they are typed and shown. */
import { formatDateTime, formatDay } from '../../text/format.ts';
import { parseInZone } from '../../text/timeZone.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * A period in Unix milliseconds, both ends inclusive. Without a start, it includes everything
 * before its end; without an end, it ends now.
 */
export interface Period {
  from?: number | undefined;
  until?: number | undefined;
}

export const PRESETS = ['1h', 'today', 'yesterday', '24h', '7d', '30d'] as const;
export type Preset = (typeof PRESETS)[number];

export const PRESET_LABELS: Readonly<Record<Preset, string>> = {
  '1h': 'Last hour',
  today: 'Today',
  yesterday: 'Yesterday',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
};

const LENGTHS_MS = { '1h': HOUR_MS, '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS };

/** Returns the period of a preset. Days start at midnight in the chosen zone. */
export function presetPeriod(preset: Preset, now: number): Period {
  const today = startOfDay(now);
  if (preset === 'today') return { from: today };
  if (preset === 'yesterday') return { from: startOfDay(today - 1), until: today - 1 };
  return { from: Math.floor((now - LENGTHS_MS[preset]) / MINUTE_MS) * MINUTE_MS };
}

const startOfDay = (timeMs: number): number => parseInZone(`${formatDay(timeMs)}T00:00`);

/** Formats a time as it is typed, to the minute: `2026-11-05 09:04`. */
export const toTimeText = (timeMs: number | undefined): string =>
  timeMs === undefined ? '' : formatDateTime(timeMs).slice(0, -3);

/**
 * Parses a typed time in the chosen zone, such as `2026-11-05 09:04`. A day stands for its first
 * minute, or for its last one if the time is the end of a period.
 * @returns Unix milliseconds, for an end those of the last millisecond of the minute; undefined for
 * an empty text, null for an invalid one.
 */
export function parseTimeText(text: string, isEnd = false): number | undefined | null {
  if (text.trim() === '') return undefined;
  const [, day, clock = isEnd ? '23:59' : '00:00'] =
    /^\s*(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d))?\s*$/.exec(text) ?? [];
  if (day === undefined) return null;
  const minute = parseInZone(`${day}T${clock}`);
  // Rejects days such as February 30, for which some browsers return a day in March.
  if (Number.isNaN(minute) || toTimeText(minute) !== `${day} ${clock}`) return null;
  return isEnd ? minute + MINUTE_MS - 1 : minute;
}

/**
 * Formats a period: `since 2026-11-05 09:04`, `until 2026-11-05 09:04`, `2026-11-05 09:04 – 10:03`,
 * or the day for an entire one. Empty if the period has neither a start nor an end.
 */
export function formatPeriod({ from, until }: Period): string {
  if (from === undefined) return until === undefined ? '' : `until ${toTimeText(until)}`;
  if (until === undefined) return `since ${toTimeText(from)}`;
  const [day, lastDay] = [formatDay(from), formatDay(until)];
  const isOfDays = from === startOfDay(from) && startOfDay(until + 1) === until + 1;
  if (isOfDays) return day === lastDay ? day : `${day} – ${lastDay}`;
  return `${toTimeText(from)} – ${day === lastDay ? toTimeText(until).slice(11) : toTimeText(until)}`;
}
