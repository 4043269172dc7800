import { formatDateTime } from './format.ts';

/** Formats a period, with the date of its end only on another day: `2026-11-30 10:00:00 to 10:59:59`. */
export function formatPeriod(from: number, until: number): string {
  const [start, end] = [formatDateTime(from), formatDateTime(until)];
  return `${start} to ${start.slice(0, 10) === end.slice(0, 10) ? end.slice(11) : end}`;
}
