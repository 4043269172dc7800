/** A block's records as the wire has them: every number as decimal text. */
import type {
  WebhookInternalTransaction,
  WebhookLog,
  WebhookTransaction,
} from '@sluice/kit/contract';
import type { EvmInternalTransaction, EvmLog, EvmTransaction } from './block.ts';

export function toWebhookLog(log: EvmLog): WebhookLog {
  const [topic0 = null, topic1 = null, topic2 = null, topic3 = null] = log.topics;
  return {
    logIndex: String(log.logIndex),
    transactionHash: log.transactionHash,
    address: log.address,
    data: log.data,
    topic0,
    topic1,
    topic2,
    topic3,
  };
}

export function toWebhookTransaction(transaction: EvmTransaction): WebhookTransaction {
  const { receipt } = transaction;
  return {
    hash: transaction.hash,
    gas: toDecimal(transaction.gas),
    gasPrice: toDecimal(transaction.gasPrice),
    nonce: toDecimal(transaction.nonce),
    input: transaction.input,
    transactionIndex: String(transaction.transactionIndex),
    fromAddress: transaction.from,
    toAddress: transaction.to,
    value: toDecimal(transaction.value),
    type: toDecimal(transaction.type),
    v: toDecimal(transaction.v),
    r: toDecimal(transaction.r),
    s: toDecimal(transaction.s),
    receiptCumulativeGasUsed: toDecimal(receipt.cumulativeGasUsed),
    receiptGasUsed: toDecimal(receipt.gasUsed),
    receiptContractAddress: receipt.contractAddress,
    receiptRoot: receipt.root,
    receiptStatus: toDecimal(receipt.status),
  };
}

export function toWebhookInternalTransaction(
  call: EvmInternalTransaction,
): WebhookInternalTransaction {
  return {
    from: call.from,
    to: call.to,
    value: toDecimal(call.value),
    gas: toDecimal(call.gas),
    transactionHash: call.transactionHash,
    internalTransactionIndex: String(call.index),
  };
}

/** Hex quantity to decimal text; the wire has no hex numbers. */
function toDecimal(quantity: string): string;
function toDecimal(quantity: string | null): string | null;
function toDecimal(quantity: string | null): string | null {
  return quantity === null ? null : BigInt(quantity).toString();
}
