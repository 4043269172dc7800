/** Writes deliveries as CSV or NDJSON. */
import type { DeliverySummary } from '@sluice/kit/sluice';
import { toCsv, type CsvValue } from '@sluice/kit/contract';

export type ExportFormat = 'csv' | 'ndjson';

export const EXPORT_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
};

const toTime = (timeMs: number | null): string | null =>
  timeMs === null ? null : new Date(timeMs).toISOString();

/** Columns of the CSV file, by header. */
const COLUMNS: Readonly<Record<string, (row: DeliverySummary) => CsvValue>> = {
  created: ({ createdAt }) => toTime(createdAt),
  summary: ({ about }) => about,
  state: ({ state }) => state,
  status: ({ status }) => status,
  error: ({ error }) => error,
  'duration ms': ({ durationMs }) => durationMs,
  attempts: ({ attempts }) => attempts,
  'next attempt': ({ nextAttemptAt }) => toTime(nextAttemptAt),
  stream: ({ tag }) => tag,
  chain: ({ chainId }) => chainId,
  block: ({ blockNumber }) => blockNumber,
  phase: ({ phase }) => phase,
  records: ({ records }) => records,
  id: ({ id }) => id,
  'stream id': ({ streamId }) => streamId,
};

export const toText = (format: ExportFormat, rows: readonly DeliverySummary[]): string =>
  format === 'csv'
    ? toCsv(rows.map((row) => Object.values(COLUMNS).map((of) => of(row))))
    : rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** Returns the first line of a file: the names of the columns, or nothing for NDJSON. */
export const toHeader = (format: ExportFormat): string =>
  format === 'csv' ? toCsv([Object.keys(COLUMNS)]) : '';
