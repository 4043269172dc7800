/** A match as the webhook body of the contract: key by key in wire order. */
import type { EvmWebhook } from '@sluice/kit/contract';
import type { EvmBlock } from './block.ts';
import type { Match } from './match.ts';
import { toWebhookInternalTransaction, toWebhookLog, toWebhookTransaction } from './records.ts';
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
