/**
 * Converts webhooks of EVM streams to database rows, and removal webhooks to the ids of rows to
 * delete.
 */
import type { Abi } from 'abitype';
import type {
  AbiItem,
  EvmWebhook,
  WebhookCall,
  WebhookRead,
  WebhookErc20Approval,
  WebhookErc20Transfer,
  WebhookInternalTransaction,
  WebhookLog,
  WebhookNativeBalance,
  WebhookNftTokenApproval,
  WebhookNftTransfer,
  WebhookTransaction,
  WebhookTrigger,
} from '../../contract/shapes.generated.ts';
import { SluiceError } from '../../errors.ts';
import type { EventItem } from '../../contract/rules/abi/readAbi.ts';
import { setNamed, withoutNul } from '../../contract/rules/abi/values.ts';
import type { DecodedValue } from '../../contract/rules/abi/values.ts';
import { decodeKnown, hasItems } from '../../webhooks/decode.ts';
import type {
  DecodedLog,
  DecodedLogs,
  DecodeOptions,
  UndecodedReason,
} from '../../webhooks/decode.ts';
import { collectionNameOf } from '../../records/collectionName.ts';
import { columnNames } from '../../records/columns.ts';
import { toCompatibleRecords } from '../../records/compatibleRows.ts';
import type { CompatibleRecords } from '../../records/compatibleRows.ts';
import { listFormatter } from '../../records/compatibleValues.ts';
import type { FormatList } from '../../records/compatibleValues.ts';
import { compatibleIds, distinctIds } from '../../records/ids.ts';
import type { IdOf, RowKind } from '../../records/ids.ts';
import type {
  CallRow,
  ReadRow,
  Erc20ApprovalRow,
  Erc20TransferRow,
  InternalTransactionRow,
  LogColumns,
  LogRow,
  NativeBalanceRow,
  NftApprovalRow,
  NftTransferRow,
  Records,
  RowBase,
  TransactionRow,
  UndecodedLogRow,
} from '../../records/rows.ts';

/** The part of a webhook that is converted to rows. Missing lists are treated as empty. */
export type RecordSource = Pick<EvmWebhook, 'confirmed' | 'chainId' | 'block'> & {
  /** Tag of the stream. Some hosted streams have none. */
  readonly tag?: string | null | undefined;
} & Partial<
    Pick<
      EvmWebhook,
      | 'removed'
      | 'abi'
      | 'logs'
      | 'txs'
      | 'txsInternal'
      | 'erc20Transfers'
      | 'erc20Approvals'
      | 'nftTransfers'
      | 'nftTokenApprovals'
      | 'nativeBalances'
      | 'calls'
      | 'reads'
    >
  >;

/** Options of {@link toRecords}. */
export interface RecordsOptions<
  A extends Abi | readonly AbiItem[] = readonly AbiItem[],
> extends Pick<DecodeOptions, 'text' | 'strict'> {
  /**
   * ABI for decoding the logs. If it is `as const`, their rows are typed. Default: the ABI in the
   * webhook.
   */
  abi?: A | undefined;
  /**
   * `distinct` (default): ids are unique over all rows of a webhook. `compatible`:
   * {@link CompatibleRecords}, with the ids, columns and formats of the hosted SDK's
   * `BatchProcessor`, for a database that it has filled. These ids are not unique across kinds, so
   * use a table per kind; the entries of an ERC-1155 batch share an id.
   */
  ids?: 'distinct' | 'compatible' | undefined;
}

/** Returns a value with U+FFFD instead of each NUL character in its strings. */
function toStorable<Value>(value: Value): Value {
  if (typeof value === 'string') return withoutNul(value) as Value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(toStorable) as Value;
  const storable: Record<string, DecodedValue> = {};
  for (const [key, each] of Object.entries(value)) setNamed(storable, key, toStorable(each));
  return storable as Value;
}

/**
 * Converts a webhook to rows.
 * @throws SluiceError `invalid_webhook` for anything but the body of a webhook, and for a removal
 * webhook.
 */
export function toEvmRecords(
  webhook: RecordSource,
  options: RecordsOptions<Abi | readonly AbiItem[]> = {},
): Records | CompatibleRecords {
  checkWebhook(webhook);
  if (webhook.removed) {
    throw new SluiceError(
      'invalid_webhook',
      'Cannot make records. This is a removal webhook (removed: true).',
      { hint: 'Delete the rows in toRemovedIds(webhook).' },
    );
  }
  const read = readRows(webhook, options);
  const records = options.text === 'database' ? toStorable(read) : read;
  return options.ids === 'compatible' ? toCompatibleRecords(records) : records;
}

/** A kind of row in {@link Records} and {@link RemovedIds}. */
type Kind = Exclude<keyof Records, 'collectionName'>;

/** The ids of rows to delete, by kind, without duplicates. */
export type RemovedIds = Record<Kind, string[]> & {
  collectionName: string;
  /**
   * Hash of the block that left the chain. Delete only rows with this `blockHash`, because a record
   * with the same id may also be in another block.
   */
  blockHash: string;
};

/**
 * Returns the ids of rows to delete for a removal webhook (`removed: true`): the ids that
 * `toRecords` returned for that block with the same `options`.
 * @throws SluiceError `invalid_webhook` for anything but a removal webhook.
 */
export function toRemovedIds(webhook: RecordSource, options: RecordsOptions = {}): RemovedIds {
  checkWebhook(webhook);
  if (!webhook.removed) {
    throw new SluiceError(
      'invalid_webhook',
      'This is not a removal webhook: removed is not true.',
      { hint: 'Write the rows of toRecords(webhook).' },
    );
  }
  const { collectionName, ...kinds } = readRows(webhook, options);
  const ids = Object.entries(kinds).map(([kind, rows]) => [
    kind,
    [...new Set(rows.map(({ id }) => id))],
  ]);
  const byKind = Object.fromEntries(ids) as Record<Kind, string[]>;
  return { collectionName, blockHash: webhook.block.hash, ...byKind };
}

/** Receives a log with its row and, if it is decoded, its event. */
export type VisitLog = (
  log: WebhookLog,
  row: LogRow | UndecodedLogRow,
  event: EventItem | undefined,
) => void;

/** Converts any webhook to rows, including removal webhooks. */
export function readRows(
  webhook: RecordSource,
  options: RecordsOptions<Abi | readonly AbiItem[]>,
  visitLog: VisitLog = () => {},
): Records {
  const { block, confirmed } = webhook;
  const chainId = Number(webhook.chainId || '0x1');
  const compatible = options.ids === 'compatible';
  const context: Context = {
    idOf: compatible ? compatibleIds(chainId) : distinctIds(chainId),
    block: {
      chainId,
      blockNumber: toNumber(block.number),
      blockHash: block.hash,
      blockTimestamp: toNumber(block.timestamp),
      confirmed,
    },
  };
  const abi = options.abi ?? webhook.abi;
  const rows = <Item, Row>(items: readonly Item[] | undefined, toRow: ToRow<Item, Row>): Row[] =>
    Array.isArray(items) ? items.map((item: Item) => toRow(item, context)) : [];
  return {
    collectionName: collectionNameOf(webhook.tag ?? ''),
    ...toLogRows(
      webhook.logs,
      (logs, events) => decodeKnown(logs, abi, options, events),
      context,
      compatible ? listFormatter(hasItems(abi) ? abi : []) : toJson,
      visitLog,
    ),
    txs: rows(webhook.txs, toTransactionRow),
    internalTxs: rows(webhook.txsInternal, toInternalTxRow),
    calls: rows(webhook.calls, toCallRow),
    reads: rows(webhook.reads, toReadRow),
    erc20Transfers: rows(webhook.erc20Transfers, toErc20TransferRow),
    erc20Approvals: rows(webhook.erc20Approvals, toErc20ApprovalRow),
    nftTransfers: rows(webhook.nftTransfers, toNftTransferRow),
    nftApprovals: rows(webhook.nftTokenApprovals, toNftApprovalRow),
    nativeBalances: rows(webhook.nativeBalances, toNativeBalanceRow),
  };
}

interface Context {
  readonly idOf: IdOf;
  readonly block: Omit<RowBase, 'id'>;
}

type ToRow<Item, Row> = (item: Item, context: Context) => Row;

export function checkWebhook(webhook: unknown): void {
  const { chainId, block, confirmed } = (webhook ?? {}) as Partial<EvmWebhook>;
  if (
    typeof chainId !== 'string' ||
    typeof confirmed !== 'boolean' ||
    typeof block !== 'object' ||
    block === null
  ) {
    throw new SluiceError(
      'invalid_webhook',
      'Cannot make records. chainId, block or confirmed is missing from the webhook.',
    );
  }
}

/** Returns the integer at the start of a string; null if there is none. */
function toNumber(text: string | null | undefined): number | null {
  const number = Number.parseInt(text ?? '', 10);
  return Number.isNaN(number) ? null : number;
}

/**
 * Converts an index to a number. Sluice and the hosted service always send an index, so 0 is only a
 * fallback for other senders.
 */
const toIndex = (text: string): number => toNumber(text) ?? 0;

const toTriggers = (triggers: readonly WebhookTrigger[] | undefined) =>
  triggers?.length ? triggers : null;

function toLogRows(
  logs: readonly WebhookLog[] | undefined,
  decode: (logs: readonly WebhookLog[], events: EventItem[]) => DecodedLogs,
  context: Context,
  formatList: FormatList,
  visitLog: VisitLog,
): Pick<Records, 'logs' | 'undecodedLogs'> {
  const rows: LogRow[] = [];
  const undecodedRows: UndecodedLogRow[] = [];
  if (!Array.isArray(logs)) return { logs: rows, undecodedLogs: undecodedRows };
  const events: EventItem[] = [];
  const { decoded, undecoded } = decode(logs, events);
  let nextDecoded = 0;
  let nextUndecoded = 0;
  // `decoded` and `undecoded` keep the order of the webhook, so they can be paired with its logs.
  for (const log of logs as WebhookLog[]) {
    const unknown = undecoded[nextUndecoded];
    if (unknown?.log === log) {
      nextUndecoded++;
      if (!isLog(log)) continue;
      const row = toUndecodedRow(log, unknown.reason, context);
      undecodedRows.push(row);
      visitLog(log, row, undefined);
    } else {
      const row = toLogRow(log, decoded[nextDecoded] as DecodedLog, context, formatList);
      rows.push(row);
      visitLog(log, row, events[nextDecoded]);
      nextDecoded++;
    }
  }
  return { logs: rows, undecodedLogs: undecodedRows };
}

/**
 * Returns whether a value is a log. Other values get no row, because an id requires a transaction
 * hash.
 */
const isLog = (log: unknown): log is WebhookLog =>
  typeof (log as Partial<WebhookLog> | null)?.transactionHash === 'string';

function toLogRow(
  log: WebhookLog,
  { name, args }: DecodedLog,
  { idOf, block }: Context,
  formatList: FormatList,
): LogRow {
  const { logIndex, transactionHash, address } = log;
  const columns: LogColumns = {
    id: logRowId('log', log, idOf),
    name,
    logIndex: toIndex(logIndex),
    transactionHash,
    address,
    ...block,
    triggers: toTriggers(log.triggers),
  };
  const row = columns as LogRow;
  for (const [parameter, column] of columnNames(Object.keys(args))) {
    const value = args[parameter] as DecodedValue;
    const text = typeof value === 'object' ? formatList(value, parameter, log) : String(value);
    setNamed(row as Record<string, DecodedValue>, column, text);
  }
  return row;
}

/**
 * Formats arrays and tuples as JSON. Integers become decimal strings, because `JSON.stringify`
 * throws on a bigint.
 */
const toJson: FormatList = (value) =>
  JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? String(each) : each));

function toUndecodedRow(
  log: WebhookLog,
  reason: UndecodedReason,
  { idOf, block }: Context,
): UndecodedLogRow {
  const { logIndex, transactionHash, address, data } = log;
  return {
    id: logRowId('log', log, idOf),
    logIndex: toIndex(logIndex),
    transactionHash,
    address,
    ...block,
    data,
    topic0: log.topic0 ?? null,
    topic1: log.topic1 ?? null,
    topic2: log.topic2 ?? null,
    topic3: log.topic3 ?? null,
    reason,
    triggers: toTriggers(log.triggers),
  };
}

function logRowId(
  kind: RowKind,
  { transactionHash, logIndex }: Pick<WebhookLog, 'transactionHash' | 'logIndex'>,
  idOf: IdOf,
  part?: string,
): string {
  return idOf({ kind, transactionHash, logIndex, part });
}

const toTransactionRow = (tx: WebhookTransaction, { idOf, block }: Context): TransactionRow => ({
  id: idOf({ kind: 'tx', transactionHash: tx.hash }),
  hash: tx.hash,
  ...block,
  transactionIndex: toNumber(tx.transactionIndex),
  gas: toNumber(tx.gas),
  gasPrice: toNumber(tx.gasPrice),
  nonce: toNumber(tx.nonce),
  fromAddress: tx.fromAddress,
  toAddress: tx.toAddress,
  value: tx.value || '0',
  input: tx.input,
  type: toNumber(tx.type),
  receiptStatus: toNumber(tx.receiptStatus),
  receiptGasUsed: toNumber(tx.receiptGasUsed),
  receiptCumulativeGasUsed: toNumber(tx.receiptCumulativeGasUsed),
  triggers: toTriggers(tx.triggers),
});

const toInternalTxRow = (
  tx: WebhookInternalTransaction,
  { idOf, block }: Context,
): InternalTransactionRow => ({
  id: idOf({
    kind: 'internalTx',
    transactionHash: tx.transactionHash,
    // Webhooks from before 2023 have no index for internal transactions, so their order in the
    // webhook distinguishes them.
    part: tx.internalTransactionIndex ?? '',
  }),
  hash: tx.transactionHash,
  ...block,
  internalTransactionIndex: toNumber(tx.internalTransactionIndex),
  from: tx.from,
  to: tx.to,
  value: tx.value,
  gas: toNumber(tx.gas || '0'),
});

const toCallRow = (call: WebhookCall, { idOf, block }: Context): CallRow => ({
  id: idOf({
    kind: 'call',
    transactionHash: call.transactionHash,
    part: call.traceAddress.join(','),
  }),
  transactionHash: call.transactionHash,
  ...block,
  transactionIndex: toNumber(call.transactionIndex),
  traceAddress: call.traceAddress.join(','),
  type: call.type,
  from: call.from,
  to: call.to,
  value: call.value,
  input: call.input,
  function: call.function,
  arguments: call.arguments && JSON.stringify(call.arguments),
  status: call.status,
  reason: call.reason?.message ?? null,
});

const toReadRow = (read: WebhookRead, { idOf, block }: Context): ReadRow => {
  const { before, after, decimals, ...about } = read;
  return {
    // A value belongs to no transaction.
    id: idOf({ kind: 'read', transactionHash: block.blockHash, part: JSON.stringify(about) }),
    ...block,
    contract: about.contract ?? null,
    function: about.function ?? null,
    arguments: about.arguments === undefined ? null : JSON.stringify(about.arguments),
    output: about.output ?? null,
    balance: about.balance ?? null,
    account: about.of ?? null,
    condition: JSON.stringify(about.when),
    decimals,
    value: toText(after.value),
    valueBefore: before && toText(before.value),
    blockNumberBefore: before && toNumber(before.block),
  };
};

const toText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

const toErc20TransferRow = (
  transfer: WebhookErc20Transfer,
  { idOf, block }: Context,
): Erc20TransferRow => ({
  id: logRowId('erc20Transfer', transfer, idOf),
  transactionHash: transfer.transactionHash,
  contract: transfer.contract,
  logIndex: toIndex(transfer.logIndex),
  from: transfer.from,
  to: transfer.to,
  value: transfer.value,
  tokenDecimals: toNumber(transfer.tokenDecimals),
  tokenName: transfer.tokenName,
  tokenSymbol: transfer.tokenSymbol,
  ...block,
  triggers: toTriggers(transfer.triggers),
});

const toErc20ApprovalRow = (
  approval: WebhookErc20Approval,
  { idOf, block }: Context,
): Erc20ApprovalRow => ({
  id: logRowId('erc20Approval', approval, idOf),
  transactionHash: approval.transactionHash,
  contract: approval.contract,
  logIndex: toIndex(approval.logIndex),
  owner: approval.owner,
  spender: approval.spender,
  value: approval.value,
  tokenDecimals: toNumber(approval.tokenDecimals),
  tokenName: approval.tokenName,
  tokenSymbol: approval.tokenSymbol,
  ...block,
  triggers: toTriggers(approval.triggers),
});

const toNftTransferRow = (
  transfer: WebhookNftTransfer,
  { idOf, block }: Context,
): NftTransferRow => ({
  // The entries of an ERC-1155 batch share a log, so the token id distinguishes them.
  id: logRowId('nftTransfer', transfer, idOf, transfer.tokenId),
  transactionHash: transfer.transactionHash,
  contract: transfer.contract,
  logIndex: toIndex(transfer.logIndex),
  operator: transfer.operator,
  from: transfer.from,
  to: transfer.to,
  tokenId: transfer.tokenId,
  toTokenId: transfer.toTokenId ?? null,
  amount: transfer.amount,
  tokenContractType: transfer.tokenContractType,
  tokenName: transfer.tokenName,
  tokenSymbol: transfer.tokenSymbol,
  ...block,
  triggers: toTriggers(transfer.triggers),
});

const toNftApprovalRow = (
  approval: WebhookNftTokenApproval,
  { idOf, block }: Context,
): NftApprovalRow => ({
  id: logRowId('nftApproval', approval, idOf),
  transactionHash: approval.transactionHash,
  contract: approval.contract,
  logIndex: toIndex(approval.logIndex),
  account: approval.account,
  operator: approval.operator,
  approvedAll: approval.approvedAll,
  tokenId: approval.tokenId,
  tokenContractType: approval.tokenContractType,
  tokenName: approval.tokenName,
  tokenSymbol: approval.tokenSymbol,
  ...block,
});

const toNativeBalanceRow = (
  { address, balance }: WebhookNativeBalance,
  { idOf, block }: Context,
): NativeBalanceRow => ({
  // A balance belongs to no transaction.
  id: idOf({ kind: 'nativeBalance', transactionHash: block.blockHash, part: address }),
  ...block,
  account: address,
  balance,
});
