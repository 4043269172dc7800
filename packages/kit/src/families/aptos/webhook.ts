/** Webhooks of Aptos streams. */
import type { AptosWebhook } from '../../contract/shapes.generated.ts';
import type { Received } from '../../webhooks/received.ts';

/** A verified webhook of an Aptos stream. */
export interface ReceivedAptosWebhook extends Received<AptosWebhook> {}

/** Returns whether a parsed body has the fields of an Aptos webhook. */
export const isAptosBody = ({ network, transactions }: Partial<AptosWebhook>): boolean =>
  typeof network === 'string' && Array.isArray(transactions);

/**
 * Returns whether a webhook is from an Aptos stream. Aptos webhooks have a `network` or
 * `coinTransfers`, and no `chainId`.
 */
export function isAptosWebhook(webhook: object): webhook is AptosWebhook {
  return ('network' in webhook || 'coinTransfers' in webhook) && !('chainId' in webhook);
}
