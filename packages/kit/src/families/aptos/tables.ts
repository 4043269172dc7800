/** Describes the tables of Aptos streams, and converts their webhooks to rows of these tables. */
import type { AptosWebhook } from '../../contract/shapes.generated.ts';
import { type Table, type WebhookRows, toTable } from '../../postgres/table.ts';
import { toAptosRecords } from './records.ts';
import type {
  AptosEventRow,
  AptosMovementRow,
  AptosRecords,
  AptosTransactionRow,
  AptosTransferRow,
} from './rows.ts';

const base = {
  id: 'text',
  network: 'text',
  blockNumber: 'bigint',
  blockHash: 'text',
  blockTimestamp: 'microseconds',
  transactionHash: 'text',
} as const;
const value = {
  ...base,
  value: 'numeric',
  coinType: 'text',
  coinName: 'text',
  coinSymbol: 'text',
  coinDecimals: 'bigint',
} as const;
const movement = { ...value, address: 'text', sequenceNumber: 'numeric' } as const;

type Kind = Exclude<keyof AptosRecords, 'collectionName'>;

const tables = {
  transactions: toTable<AptosTransactionRow>('transactions', {
    ...base,
    type: 'text',
    sender: 'text',
    success: 'boolean',
    gasUsed: 'numeric',
    gasUnitPrice: 'numeric',
    gasLimit: 'numeric',
  }),
  coinTransfers: toTable<AptosTransferRow>('coin_transfers', {
    ...value,
    from: 'text',
    to: 'text',
  }),
  coinDeposits: toTable<AptosMovementRow>('coin_deposits', movement),
  coinWithdrawals: toTable<AptosMovementRow>('coin_withdrawals', movement),
  events: toTable<AptosEventRow>('events', {
    ...base,
    eventIndex: 'bigint',
    type: 'text',
    data: 'jsonText',
  }),
} as const satisfies Record<Kind, Table>;

const kinds = Object.keys(tables) as Kind[];

export const APTOS_TABLES: readonly Table[] = Object.values(tables);

/** Converts a webhook to rows. */
export function readAptosTables(webhook: AptosWebhook): WebhookRows {
  const records = toAptosRecords(webhook);
  const rows = kinds.flatMap((kind) => records[kind].map((row) => ({ table: tables[kind], row })));
  return { rows, events: [] };
}
