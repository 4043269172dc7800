import { countKinds } from '../../../match/recordCounts.ts';
import type { Match } from './match.ts';

/** Counts logs by event, and transactions and internal transactions. */
export const countEvmRecords = ({ logs, transactions, internalTransactions }: Match) =>
  countKinds([
    ...logs.map(({ topics }) => topics[0] ?? 'anonymous'),
    ...transactions.map(() => 'transaction'),
    ...internalTransactions.map(() => 'internalTransaction'),
  ]);
