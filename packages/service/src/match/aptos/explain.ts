/** Explains why the transactions of an Aptos block match each stream or not. Pure. */
import type { ExplainedRecord } from '@sluice/kit/contract';
import { explainRecords } from '../explain.ts';
import type { AptosBlock, AptosTransaction } from './block.ts';
import { matchAptosBlock } from './match.ts';
import type { AptosIndex, CompiledAptosStream } from './streamIndex.ts';

/** Returns the relevant transactions by stream, limited to the transactions in `only` if given. */
export const explainAptosBlock = (
  index: AptosIndex,
  chain: string,
  block: AptosBlock,
  only: { transactions?: ReadonlySet<string> | undefined; version?: number | undefined },
): Map<string, ExplainedRecord[]> =>
  explainRecords<CompiledAptosStream, AptosTransaction>(
    (addReasonOf) =>
      matchAptosBlock(index, chain, block, addReasonOf).map(({ stream, transactions }) => [
        stream,
        transactions.map(({ transaction }) => transaction),
      ]),
    ({ hash, version }, _, { isIncluded, reasons }) =>
      (only.transactions?.has(hash) ?? true) && (only.version ?? version) === version
        ? {
            kind: 'transaction',
            index: version,
            transactionHash: hash,
            included: isIncluded,
            reasons,
          }
        : undefined,
  );
