/** Summarizes one transaction of an Aptos block for its explanation. */
import { type ExplainedTransaction, shortenMovePath } from '@sluice/kit/contract';
import { listAddresses } from '../explain.ts';
import type { AptosTransaction } from './block.ts';
import { APT_COIN, readTouched, readTransfer } from './movements.ts';

export function explainAptosTransaction(transaction: AptosTransaction): ExplainedTransaction {
  const payment = readTransfer(transaction);
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
    ...listAddresses(addressesOf(transaction, payment?.to)),
  };
}

function* addressesOf(
  transaction: AptosTransaction,
  recipient: string | undefined,
): Generator<[string, string | null]> {
  yield ['from', transaction.actor];
  yield ['to', recipient ?? null];
  for (const signer of transaction.signers) yield ['signer', signer];
  for (const account of readTouched(transaction)) yield ['account', account];
}
