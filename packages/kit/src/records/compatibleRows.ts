/** Row types of the hosted SDK's `BatchProcessor` that differ from {@link Records}. */
import type { WebhookTrigger } from '../contract/shapes.generated.ts';
import type {
  Erc20ApprovalRow,
  Erc20TransferRow,
  InternalTransactionRow,
  LogColumns,
  LogRow,
  NftApprovalRow,
  NftTransferRow,
  Records,
  TransactionRow,
} from './rows.ts';

/**
 * The rows of one webhook for a database that the hosted SDK has filled. Their types differ from
 * {@link Records} in four ways: `triggers` is omitted if empty, `logIndex` is a string in the four
 * token kinds, internal transactions have no `internalTransactionIndex`, and NFT transfers have no
 * `toTokenId`. There are no calls, which hosted streams lack, and no
 * native balances, which the SDK leaves out.
 */
export interface CompatibleRecords<Log = CompatibleLogRow> extends Pick<
  Records,
  'collectionName' | 'undecodedLogs'
> {
  logs: Log[];
  txs: MaybeTriggered<TransactionRow>[];
  internalTxs: Omit<InternalTransactionRow, 'internalTransactionIndex'>[];
  erc20Transfers: OfToken<MaybeTriggered<Erc20TransferRow>>[];
  erc20Approvals: OfToken<MaybeTriggered<Erc20ApprovalRow>>[];
  nftTransfers: OfToken<MaybeTriggered<Omit<NftTransferRow, 'toTokenId'>>>[];
  nftApprovals: OfToken<NftApprovalRow>[];
}

/** A {@link LogRow} in which `triggers` is omitted if empty. */
export interface CompatibleLogRow extends Omit<LogColumns, 'triggers'> {
  triggers?: readonly WebhookTrigger[];
  [parameter: string]: string | number | boolean | readonly WebhookTrigger[] | null | undefined;
}

/** A row type in which `triggers` is omitted if empty. */
export type MaybeTriggered<Row> = Row extends unknown
  ? string extends keyof Row
    ? CompatibleLogRow
    : Flat<Omit<Row, 'triggers'> & { triggers?: readonly WebhookTrigger[] }>
  : never;

type OfToken<Row> = Flat<Omit<Row, 'logIndex'> & { logIndex: string }>;

type Flat<T> = { [K in keyof T]: T[K] };

export const toCompatibleRecords = (records: Records): CompatibleRecords => ({
  collectionName: records.collectionName,
  undecodedLogs: records.undecodedLogs,
  logs: records.logs.map((row) => withoutEmptyTriggers<LogRow>(row)),
  txs: records.txs.map(withoutEmptyTriggers),
  internalTxs: records.internalTxs.map(withoutIndex),
  erc20Transfers: records.erc20Transfers.map((row) => withTextIndex(withoutEmptyTriggers(row))),
  erc20Approvals: records.erc20Approvals.map((row) => withTextIndex(withoutEmptyTriggers(row))),
  nftTransfers: records.nftTransfers.map((row) =>
    withTextIndex(withoutEmptyTriggers(withoutRange(row))),
  ),
  nftApprovals: records.nftApprovals.map(withTextIndex),
});

function withoutIndex(
  internalTx: InternalTransactionRow,
): Omit<InternalTransactionRow, 'internalTransactionIndex'> {
  const { internalTransactionIndex: _, ...row } = internalTx;
  return row;
}

function withoutRange(nftTransfer: NftTransferRow): Omit<NftTransferRow, 'toTokenId'> {
  const { toTokenId: _, ...row } = nftTransfer;
  return row;
}

function withoutEmptyTriggers<Row extends { triggers: readonly WebhookTrigger[] | null }>({
  triggers,
  ...row
}: Row): MaybeTriggered<Row> {
  return { ...row, ...(triggers !== null && { triggers }) } as unknown as MaybeTriggered<Row>;
}

const withTextIndex = <Row extends { logIndex: number }>(row: Row): OfToken<Row> => ({
  ...row,
  logIndex: String(row.logIndex),
});
