/** Finds the records of a body by the kinds that triggers and native balances name. */
import type { EvmWebhook, RecordKind, WebhookTrigger } from '@sluice/kit/contract';

/** The part of a body that follows `retries`. */
export type BodyTail = Omit<
  EvmWebhook,
  'confirmed' | 'removed' | 'chainId' | 'abi' | 'streamId' | 'tag' | 'retries'
>;

/** A record of any kind, accessed by field name. */
export type AnyRecord = Readonly<Record<string, unknown>> & {
  triggers?: WebhookTrigger[];
  triggered_by?: unknown;
};

export function recordsOf(tail: BodyTail, kind: RecordKind): AnyRecord[] {
  return arrayOf(tail, kind) as unknown as AnyRecord[];
}

function arrayOf(tail: BodyTail, kind: RecordKind): readonly object[] {
  switch (kind) {
    case 'tx':
      return tail.txs;
    case 'log':
      return tail.logs;
    case 'erc20transfer':
      return tail.erc20Transfers;
    case 'erc20approval':
      return tail.erc20Approvals;
    case 'nfttransfer':
      return tail.nftTransfers;
    case 'internalTx':
      return tail.txsInternal;
  }
}
