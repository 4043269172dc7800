/** Explains why each transaction of an Aptos block matches a stream or does not. */
import type { ExplainedRecord } from '@sluice/kit/contract';
import { explainRecords } from '../../../match/explain.ts';
import type { AptosBlock, AptosTransaction } from './block.ts';
import { matchAptosBlock } from './match.ts';
import type { AptosStreams, CompiledAptosStream } from './streamIndex.ts';

/**
 * Returns, by stream id, the transactions that touch the stream's addresses, and why each one
 * matched or did not. `only` limits the transactions.
 */
export const explainAptosBlock = (
  index: AptosStreams,
  chain: string,
  block: AptosBlock,
  only: ExplainedTransactions,
): Map<string, ExplainedRecord[]> =>
  explainRecords<CompiledAptosStream, AptosTransaction>(
    (addReasonOf) =>
      matchAptosBlock(index, chain, block, addReasonOf).map(({ stream, transactions }) => [
        stream,
        transactions.map(({ transaction }) => transaction),
      ]),
    (transaction, _, { isIncluded, reasons }) =>
      isExplained(transaction, only)
        ? {
            kind: 'transaction',
            index: transaction.version,
            transactionHash: transaction.hash,
            included: isIncluded,
            reasons,
          }
        : undefined,
  );

interface ExplainedTransactions {
  transactions?: ReadonlySet<string> | undefined;
  version?: number | undefined;
}

export const isExplained = (
  { hash, version }: AptosTransaction,
  only: ExplainedTransactions,
): boolean => (only.transactions?.has(hash) ?? true) && (only.version ?? version) === version;
