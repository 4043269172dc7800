/** Summarizes one transaction of an Aptos block for its explanation. */
import { type ExplainedTransaction, shortenMovePath } from '@sluice/kit/contract';
import { listAddresses } from '../../../match/explain.ts';
import type { AptosTransaction } from './block.ts';
import { APT_COIN, type AptosTransfer, readTouchedAccounts, readTransfers } from './movements.ts';

export function explainAptosTransaction(transaction: AptosTransaction): ExplainedTransaction {
  const payments = readTransfers(transaction);
  // A batch has no single recipient and value.
  const payment = payments.length === 1 ? payments[0] : undefined;
  return {
    hash: transaction.hash,
    status: transaction.success ? 'succeeded' : 'failed',
    from: transaction.actor === '' ? null : transaction.actor,
    to: payment?.to ?? null,
    createdContract: null,
    value: payment?.asset === APT_COIN ? payment.value : null,
    currency: { symbol: 'APT', decimals: 8 },
    selector: null,
    function: transaction.function === null ? null : shortenMovePath(transaction.function),
    ...listAddresses(addressesOf(transaction, payments)),
  };
}

function* addressesOf(
  transaction: AptosTransaction,
  payments: readonly AptosTransfer[],
): Generator<[string, string | null]> {
  yield ['from', transaction.actor];
  for (const { to } of payments) yield ['to', to];
  for (const signer of transaction.signers) yield ['signer', signer];
  for (const account of readTouchedAccounts(transaction)) yield ['account', account];
}
