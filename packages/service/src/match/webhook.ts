/** A match as the webhook body of contract section 2: key by key in wire order. */
import type {
  EvmWebhook,
  WebhookInternalTransaction,
  WebhookLog,
  WebhookTransaction,
} from '@sluice/kit/contract';
import type { EvmBlock, EvmInternalTransaction, EvmLog, EvmTransaction } from './block.ts';
import type { Match } from './match.ts';
import { decodeTransfers } from './transfers.ts';

/** The body without `confirmed` and `retries`, parted where `retries` stands. */
export interface WebhookParts {
  head: Pick<EvmWebhook, 'chainId' | 'abi' | 'streamId' | 'tag'>;
  tail: Omit<EvmWebhook, 'confirmed' | 'chainId' | 'abi' | 'streamId' | 'tag' | 'retries'>;
}

/** @param spam contracts whose records are marked `possibleSpam` */
export function toWebhookParts(
  chain: string,
  block: EvmBlock,
  match: Match,
  spam?: ReadonlySet<string>,
): WebhookParts {
  const { record } = match.stream;
  return {
    head: {
      chainId: chain,
      abi: record.options.abi ?? [],
      streamId: record.id,
      tag: record.tag,
    },
    tail: {
      block: {
        number: String(block.number),
        hash: block.hash,
        timestamp: String(block.timestamp),
      },
      logs: match.logs.map(toWebhookLog),
      txs: match.transactions.map(toWebhookTransaction),
      txsInternal: match.internalTransactions.map(toWebhookInternalTransaction),
      ...decodeTransfers(match.logs, spam),
      nativeBalances: [],
    },
  };
}

function toWebhookLog(log: EvmLog): WebhookLog {
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

function toWebhookTransaction(transaction: EvmTransaction): WebhookTransaction {
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

function toWebhookInternalTransaction(call: EvmInternalTransaction): WebhookInternalTransaction {
  return {
    from: call.from,
    to: call.to,
    value: toDecimal(call.value),
    gas: toDecimal(call.gas),
    transactionHash: call.transactionHash,
    internalTransactionIndex: String(call.index),
  };
}

/** Hex quantity to decimal text; the wire has no hex numbers (contract section 2.2, type rule). */
function toDecimal(quantity: string): string;
function toDecimal(quantity: string | null): string | null;
function toDecimal(quantity: string | null): string | null {
  return quantity === null ? null : BigInt(quantity).toString();
}
