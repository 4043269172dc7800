import { type Kysely, sql } from 'kysely';
import { type Engine, readNow } from './engine.ts';
import { firstIdAt } from './ids.ts';
import type { RetentionWrites } from './store.ts';
import type { Tables } from './tables.ts';

/** What is forgotten, oldest first and a little at a time, so that nothing waits for it. */
export function createRetentionWrites(db: Kysely<Tables>, engine: Engine): RetentionWrites {
  return {
    async deleteExpired({ deliveredMs, undeliveredMs, limit }) {
      return db.transaction().execute(async (trx) => {
        const now = await readNow(engine, trx);
        const delivered = firstIdAt(now - deliveredMs);
        const undelivered = firstIdAt(now - undeliveredMs);
        const expired = await trx
          .selectFrom('delivery')
          .select(['id', 'state'])
          .where((eb) =>
            eb.or([
              eb.and([
                eb('id', '<', delivered),
                eb('state', 'in', ['succeeded', 'cancelled'] as const),
              ]),
              eb.and([
                eb('id', '<', undelivered),
                eb('state', 'in', ['enriching', 'pending', 'failed'] as const),
              ]),
            ]),
          )
          .orderBy('id')
          .limit(limit)
          .execute();
        const ids = expired.map((row) => row.id);
        if (ids.length > 0) {
          await trx.deleteFrom('attempt').where('delivery_id', 'in', ids).execute();
          await trx.deleteFrom('delivery').where('id', 'in', ids).execute();
        }
        // A match goes with the last of its deliveries; one that may still be confirmed stays.
        const matches = await trx
          .selectFrom('match')
          .select('id')
          .where('id', '<', delivered)
          .where('state', '<>', 'frozen')
          .where(
            sql<boolean>`not exists (select 1 from delivery where delivery.match_id = match.id)`,
          )
          .orderBy('id')
          .limit(limit)
          .execute();
        const matchIds = matches.map((row) => row.id);
        if (matchIds.length > 0) {
          await trx.deleteFrom('match_transaction').where('match_id', 'in', matchIds).execute();
          await trx.deleteFrom('match').where('id', 'in', matchIds).execute();
        }
        return {
          deliveries: ids.length,
          undelivered: expired.filter(({ state }) => state === 'enriching' || state === 'pending')
            .length,
          more: ids.length === limit || matchIds.length === limit,
        };
      });
    },
  };
}
