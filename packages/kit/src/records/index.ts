/** `@sluice/kit/records`: webhooks as rows for a database. */
export * from './toRecords.ts';
export type * from './rows.ts';
export type {
  AptosEventRow,
  AptosMovementRow,
  AptosRecords,
  AptosRowBase,
  AptosTransactionRow,
  AptosTransferRow,
} from './aptosRecords.ts';
export type { CompatibleLogRow, CompatibleRecords } from './compatibleRows.ts';
export { isSluiceError, SluiceError } from '../errors.ts';
