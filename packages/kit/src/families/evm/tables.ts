/** Describes the tables of EVM streams, and converts their webhooks to rows of these tables. */
import type { AbiItem, AbiParameter, EvmWebhook } from '../../contract/shapes.generated.ts';
import { parameterNames } from '../../contract/rules/abi/values.ts';
import type { EventItem } from '../../contract/rules/abi/readAbi.ts';
import { canonicalType, parameterType } from '../../contract/rules/signatures.ts';
import type { ColumnType } from '../../postgres/columns.ts';
import { fitName, toSnakeCase } from '../../postgres/identifiers.ts';
import { type Table, type WebhookRows, toTable } from '../../postgres/table.ts';
import { columnNames } from '../../records/columns.ts';
import type {
  CallRow,
  Erc20ApprovalRow,
  Erc20TransferRow,
  InternalTransactionRow,
  LogColumns,
  NativeBalanceRow,
  NftApprovalRow,
  NftTransferRow,
  ReadRow,
  Records,
  RowBase,
  TransactionRow,
  UndecodedLogRow,
} from '../../records/rows.ts';
import { checkWebhook, readRows } from './records.ts';

const base = {
  id: 'text',
  chainId: 'bigint',
  blockNumber: 'bigint',
  blockHash: 'text',
  blockTimestamp: 'seconds',
  confirmed: 'boolean',
} as const satisfies Record<keyof RowBase, ColumnType>;
const ofLog = { ...base, transactionHash: 'text', logIndex: 'bigint' } as const;
const triggered = { triggers: 'json' } as const;
const token = { ...ofLog, contract: 'text', tokenName: 'text', tokenSymbol: 'text' } as const;

/** A log with its event. */
interface AnyLogRow extends Omit<UndecodedLogRow, 'reason'> {
  /** Name of the event; null if the log was not decoded. */
  event: string | null;
  /** Reason why the log was not decoded; null if it was. */
  undecodedReason: string | null;
}

const logs = toTable<AnyLogRow>('logs', {
  ...ofLog,
  address: 'text',
  topic0: 'text',
  topic1: 'text',
  topic2: 'text',
  topic3: 'text',
  data: 'text',
  event: 'text',
  undecodedReason: 'text',
  ...triggered,
});

type Kind = Exclude<keyof Records, 'collectionName' | 'logs' | 'undecodedLogs'>;

/** Tables of the kinds of records, except logs. */
const tables = {
  txs: toTable<TransactionRow>('transactions', {
    ...base,
    hash: 'text',
    transactionIndex: 'bigint',
    gas: 'bigint',
    gasPrice: 'numeric',
    nonce: 'bigint',
    fromAddress: 'text',
    toAddress: 'text',
    value: 'numeric',
    input: 'text',
    type: 'bigint',
    receiptStatus: 'bigint',
    receiptGasUsed: 'bigint',
    receiptCumulativeGasUsed: 'bigint',
    ...triggered,
  }),
  internalTxs: toTable<InternalTransactionRow>('internal_transactions', {
    ...base,
    hash: 'text',
    internalTransactionIndex: 'bigint',
    from: 'text',
    to: 'text',
    value: 'numeric',
    gas: 'bigint',
  }),
  calls: toTable<CallRow>('calls', {
    ...base,
    transactionHash: 'text',
    transactionIndex: 'bigint',
    traceAddress: 'text',
    type: 'text',
    from: 'text',
    to: 'text',
    value: 'numeric',
    input: 'text',
    function: 'text',
    arguments: 'jsonText',
    status: 'text',
    reason: 'text',
  }),
  reads: toTable<ReadRow>('reads', {
    ...base,
    contract: 'text',
    function: 'text',
    arguments: 'jsonText',
    output: 'text',
    balance: 'text',
    account: 'text',
    condition: 'jsonText',
    decimals: 'bigint',
    value: 'text',
    valueBefore: 'text',
    blockNumberBefore: 'bigint',
  }),
  erc20Transfers: toTable<Erc20TransferRow>('erc20_transfers', {
    ...token,
    from: 'text',
    to: 'text',
    value: 'numeric',
    tokenDecimals: 'bigint',
    ...triggered,
  }),
  erc20Approvals: toTable<Erc20ApprovalRow>('erc20_approvals', {
    ...token,
    owner: 'text',
    spender: 'text',
    value: 'numeric',
    tokenDecimals: 'bigint',
    ...triggered,
  }),
  nftTransfers: toTable<NftTransferRow>('nft_transfers', {
    ...token,
    tokenContractType: 'text',
    operator: 'text',
    from: 'text',
    to: 'text',
    tokenId: 'numeric',
    toTokenId: 'numeric',
    amount: 'numeric',
    ...triggered,
  }),
  nftApprovals: toTable<NftApprovalRow>('nft_approvals', {
    ...token,
    tokenContractType: 'text',
    account: 'text',
    operator: 'text',
    approvedAll: 'boolean',
    tokenId: 'numeric',
  }),
  nativeBalances: toTable<NativeBalanceRow>('native_balances', {
    ...base,
    account: 'text',
    balance: 'numeric',
  }),
} as const satisfies Record<Kind, Table>;

const kinds = Object.keys(tables) as Kind[];

export const EVM_TABLES: readonly Table[] = [logs, ...Object.values(tables)];

/** Converts a webhook to rows, also a removal webhook. */
export function readEvmTables(
  webhook: EvmWebhook,
  abi: readonly AbiItem[] | undefined,
): WebhookRows {
  checkWebhook(webhook);
  const rows: WebhookRows['rows'][number][] = [];
  const events: WebhookRows['events'][number][] = [];
  const records = readRows(webhook, { abi }, (log, row, event) => {
    const anyRow: AnyLogRow = {
      ...(row as UndecodedLogRow),
      data: log.data,
      topic0: log.topic0 ?? null,
      topic1: log.topic1 ?? null,
      topic2: log.topic2 ?? null,
      topic3: log.topic3 ?? null,
      event: event?.name ?? null,
      undecodedReason: event === undefined ? (row as UndecodedLogRow).reason : null,
    };
    rows.push({ table: logs, row: anyRow });
    if (event !== undefined) events.push({ event, row });
  });
  for (const kind of kinds) {
    for (const row of records[kind]) rows.push({ table: tables[kind], row });
  }
  return { rows, events };
}

/** Columns of every event. */
const eventColumns = toTable<Omit<LogColumns, 'name'>>('', {
  ...ofLog,
  address: 'text',
  ...triggered,
}).columns;

/** Names of every table's own columns and of PostgreSQL's system columns. */
const RESERVED_COLUMNS: ReadonlySet<string> = new Set([
  ...eventColumns.map(({ name }) => name),
  'delivery_id',
  ...['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid'],
]);

/**
 * Returns the signature that identifies the table of an event: its name, types and indexed
 * parameters. Events that differ only in the names of their parameters share a table.
 */
export const eventSignature = ({ name, inputs = [], anonymous }: EventItem): string =>
  `${anonymous ? 'anonymous ' : ''}${name}(${inputs
    .map((input) => `${parameterType(input)}${input.indexed ? ' indexed' : ''}`)
    .join(', ')})`;

/** Name of an event's table, unless another event has this name. */
export const eventTableName = ({ name }: EventItem): string =>
  fitName(`event_${toSnakeCase(name)}`);

/**
 * Describes the table of an event: a column per parameter, with `_` before its name until the name
 * is free.
 *
 * @param canUse returns whether the table has no column of this name, or one of this type
 */
export function toEventTable(
  { inputs = [] }: EventItem,
  name: string,
  canUse: (column: string, type: ColumnType) => boolean,
): Table {
  const names = parameterNames(inputs);
  const properties = columnNames(names);
  const used = new Set<string>();
  const parameters = inputs.map((input, position) => {
    const parameter = names[position] as string;
    const type = columnTypeOf(input);
    let column = fitName(toSnakeCase(parameter));
    while (RESERVED_COLUMNS.has(column) || used.has(column) || !canUse(column, type)) {
      column = fitName(`_${column}`);
    }
    used.add(column);
    return { name: column, type, property: properties.get(parameter) as string };
  });
  return { name, columns: [...eventColumns, ...parameters], isConfirmed: true };
}

/** Most bits of an integer that a `bigint` column stores, signed or unsigned. */
const BIGINT_BITS = 56;

function columnTypeOf({ type, indexed }: AbiParameter): ColumnType {
  // A topic contains only the hash of a dynamic value.
  if (type.endsWith(']') || type.startsWith('tuple')) return indexed ? 'text' : 'jsonText';
  const canonical = canonicalType(type) ?? type;
  if (canonical === 'bool') return 'boolean';
  const bits = /^u?int(\d+)$/.exec(canonical)?.[1];
  if (bits === undefined) return 'text';
  return Number(bits) <= BIGINT_BITS ? 'bigint' : 'numeric';
}
