/** `@sluice/kit/records`: webhooks as rows for a database. */
export { toRecords, toRemovedIds } from './toRecords.ts';
export type { RecordsOptions, RecordSource, RemovedIds } from './toRecords.ts';
export type {
  AptosEventRow,
  AptosMovementRow,
  AptosRecords,
  AptosRowBase,
  AptosTransactionRow,
  AptosTransferRow,
} from './aptosRecords.ts';
export type { CompatibleLogRow, CompatibleRecords } from './compatibleRows.ts';
export type {
  Erc20ApprovalRow,
  Erc20TransferRow,
  InternalTxRow,
  LogColumns,
  LogRow,
  LogRowOf,
  NftApprovalRow,
  NftTransferRow,
  Records,
  RowBase,
  TxRow,
  UndecodedLogRow,
} from './rows.ts';
export { isSluiceError, SluiceError } from '../errors.ts';
