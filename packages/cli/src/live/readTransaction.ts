/** Reads a transaction of a followed chain as the webhook that a stream would send. */
import { type AnyWebhook, familyOf } from '@sluice/kit/contract';
import type { Connection } from '../connection/connection.ts';
import { WEBHOOK_FAMILIES } from '../families/webhooks.ts';
import { CommandError } from '../terminal/errors.ts';

/**
 * Finds the chain and block of a transaction, in all chain families.
 *
 * @throws CommandError `not_found` if no followed chain has the transaction.
 */
export async function findTransaction(
  { sluice }: Pick<Connection, 'sluice'>,
  hash: string,
): Promise<{ chainId: string; blockNumber: number }> {
  const { kind, chainId, block, message } = await sluice.explain(hash);
  if (kind !== 'transaction' || chainId === null || block === null) {
    throw new CommandError('not_found', `${hash}: ${message}`);
  }
  return { chainId, blockNumber: block.number };
}

/**
 * Reads a transaction.
 *
 * @throws CommandError `not_found` if no chain has the transaction, or no record matches.
 */
export async function readTransaction(
  connection: Pick<Connection, 'api' | 'sluice'>,
  hash: string,
  /** The sender, the recipient, a contract that emitted a log, or an address in a log's topics. */
  touching: string | undefined,
): Promise<AnyWebhook> {
  const at = await findTransaction(connection, hash);
  return WEBHOOK_FAMILIES[familyOf(at.chainId)].readTransaction(connection, {
    hash,
    ...at,
    touching,
  });
}
