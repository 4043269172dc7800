import { receiverOf } from '@sluice/kit/contract';
import type { Db } from '../tables/tables.ts';

/**
 * Returns the ids of the lanes whose URL currently leads to this receiver, as `receiverOf` names it.
 * Reads all URLs, because none is indexed by its host.
 */
export async function listReceiverLanes(db: Db, receiver: string): Promise<string[]> {
  const rows = await db
    .selectFrom('stream')
    .select(['id', 'webhook_url'])
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute();
  return rows
    .filter(({ webhook_url: webhookUrl }) => receiverOf({ webhookUrl }) === receiver)
    .map(({ id }) => id);
}
