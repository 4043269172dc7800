import type { AptosWebhook } from '@sluice/kit';
import { nameOfChain } from '@sluice/kit/contract';
import { CommandError } from '../../terminal/errors.ts';
import type { WebhookFamily } from '../webhookFamily.ts';

export const APTOS_WEBHOOKS: WebhookFamily<AptosWebhook> = {
  onlyOf,
  // Blocks are always final.
  turnOf: () => 1,
  describePhase: ({ block }) => `aptos #${block.number} final`,
  readingsOf: () => [],
  decode() {
    throw new CommandError(
      'usage',
      '--decode is not supported for Aptos, because its webhooks are already decoded',
    );
  },
  async *send(sender, webhook) {
    yield ['final', await sender.send(webhook)];
  },
  readTransaction(_connection, { hash, chainId }) {
    throw new CommandError(
      'not_found',
      `${hash} is on Aptos (${nameOfChain(chainId)}), where single transactions cannot be read`,
      'see what a stream would receive: sluice dry-run --tx',
    );
  },
};

function onlyOf(webhook: AptosWebhook, transactionHash: string): AptosWebhook | undefined {
  const hash = transactionHash.toLowerCase();
  const isOf = ({ txHash }: { txHash: string }): boolean => txHash === hash;
  const at = webhook.transactions.findIndex((transaction) => transaction.hash === hash);
  const transaction = webhook.transactions[at];
  if (transaction === undefined) return undefined;
  return {
    ...webhook,
    coinTransfers: webhook.coinTransfers.filter(isOf),
    coinDeposits: webhook.coinDeposits.filter(isOf),
    coinWithdrawals: webhook.coinWithdrawals.filter(isOf),
    transactions: [transaction],
    changes: webhook.changes.filter(isOf),
    payloads: webhook.payloads.filter(isOf),
    // `webhook.events` contains one list per transaction, or is empty.
    events: webhook.events.slice(at, at + 1),
  };
}
