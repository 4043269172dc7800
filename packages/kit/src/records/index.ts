/** `@sluice/kit/records`: webhooks as rows for a database. */
export * from '../families/records.ts';
export type * from './rows.ts';
export type { CompatibleLogRow, CompatibleRecords } from './compatibleRows.ts';
export { isSluiceError, SluiceError } from '../errors.ts';
