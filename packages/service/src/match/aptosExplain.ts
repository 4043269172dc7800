/** Why the transactions of an Aptos block concern each stream, or do not: as `explain.ts` for EVM. Pure. */
import type { ExplainReason, ExplainedRecord } from '@sluice/kit/contract';
import type { AptosBlock, AptosTransaction } from './aptosBlock.ts';
import type { AptosIndex, CompiledAptosStream } from './aptosIndex.ts';
import { matchAptosBlock } from './aptosMatch.ts';

/** By stream, the transactions that touch what it watches; those alone that `only` names. */
export function explainAptosBlock(
  index: AptosIndex,
  chain: string,
  block: AptosBlock,
  only: { transactions?: ReadonlySet<string> | undefined; version?: number | undefined },
): Map<string, ExplainedRecord[]> {
  const heard = new Map<CompiledAptosStream, Map<AptosTransaction, ExplainReason[]>>();
  const matches = matchAptosBlock(index, chain, block, (stream, transaction) => {
    const transactions = heard.get(stream) ?? new Map<AptosTransaction, ExplainReason[]>();
    const reasons = transactions.get(transaction) ?? [];
    heard.set(stream, transactions.set(transaction, reasons));
    return (reason) => void reasons.push(reason);
  });
  const taken = new Map(
    matches.map(({ stream, transactions }) => [
      stream,
      new Set(transactions.map(({ transaction }) => transaction)),
    ]),
  );
  const explained = new Map<string, ExplainedRecord[]>();
  for (const [stream, transactions] of heard) {
    const its = [...transactions]
      .filter(
        ([{ hash, version }]) =>
          (only.transactions?.has(hash) ?? true) && (only.version ?? version) === version,
      )
      .map(([transaction, reasons]): ExplainedRecord => ({
        kind: 'transaction',
        index: transaction.version,
        transactionHash: transaction.hash,
        taken: taken.get(stream)?.has(transaction) ?? false,
        reasons,
      }));
    if (its.length > 0) explained.set(stream.record.id, its);
  }
  return explained;
}
