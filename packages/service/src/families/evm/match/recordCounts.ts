import { selectorOf } from '@sluice/kit/contract';
import { countKinds } from '../../../match/recordCounts.ts';
import type { Match } from './match.ts';

/** Counts logs by event, calls by selector, and transactions, internal transactions and reads. */
export const countEvmRecords = ({
  logs,
  transactions,
  internalTransactions,
  calls,
  reads,
}: Match) =>
  countKinds([
    ...logs.map(({ topics }) => topics[0] ?? 'anonymous'),
    ...transactions.map(() => 'transaction'),
    ...internalTransactions.map(() => 'internalTransaction'),
    ...calls.map(({ input }) => selectorOf(input) ?? 'call'),
    ...reads.map(() => 'read'),
  ]);
