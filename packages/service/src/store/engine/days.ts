/** UTC days of blocks, by which an engine may divide the tables that grow with time. */
import type { RawBuilder, SqlBool } from 'kysely';

export const DAY_MS = 86_400_000;

/** The days from `fromDay` up to, but not including, `toDay`. */
export interface DayRange {
  fromDay: string;
  toDay: string;
}

/** Builds the condition that the day in a column is in one of several ranges. */
export type DayFilter = (column: string) => RawBuilder<SqlBool>;

/** Returns the UTC day of a time in milliseconds, as `YYYY-MM-DD`. */
export const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const LAST_DAY_S = Date.UTC(9999, 11, 1) / 1000;

/** Returns the day of a block with this timestamp in seconds, limited to years with four digits. */
export const toBlockDay = (timestamp: number): string =>
  toDay(Math.min(Math.max(0, timestamp), LAST_DAY_S) * 1000);
