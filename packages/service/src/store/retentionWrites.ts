import { type Kysely, sql } from 'kysely';
import { type Engine, readNow } from './engine.ts';
import { agedIds, isExpired } from './retentionReads.ts';
import type { RetentionWrites } from './store.ts';
import type { Tables } from './tables.ts';

/**
 * What is forgotten row by row, a little at a time, so that nothing waits for it: everything on SQLite,
 * and on PostgreSQL what stands in partitions that cannot be dropped (`partitionWrites.ts`).
 */
export function createRetentionWrites(
  db: Kysely<Tables>,
  engine: Engine,
): Pick<RetentionWrites, 'deleteExpired'> {
  return {
    async deleteExpired({ deliveredMs, undeliveredMs, limit, after }) {
      return db.transaction().execute(async (trx) => {
        const now = await readNow(engine, trx);
        const aged = agedIds({ deliveredMs, undeliveredMs }, now);
        const { delivered, youngest } = aged;
        // Ids of both tables are in the order of time: one stretch of it after the other.
        let last: string | undefined;
        for (const table of ['delivery', 'match'] as const) {
          const end = await trx
            .selectFrom(table)
            .select('id')
            .where('id', '>', after)
            .where('id', '<', last ?? youngest)
            .orderBy('id')
            .offset(limit - 1)
            .limit(1)
            .executeTakeFirst();
          last = end?.id ?? last;
        }
        const deliveries = await trx
          .selectFrom('delivery')
          .select(['id', 'state', 'block_day'])
          .where('id', '>', after)
          .where('id', '<=', last ?? youngest)
          .where(isExpired(aged))
          .execute();
        const { ids, days } = split(deliveries);
        if (ids.length > 0) {
          await trx
            .deleteFrom('attempt')
            .where('block_day', 'in', days)
            .where('delivery_id', 'in', ids)
            .execute();
          await trx
            .deleteFrom('delivery')
            .where('block_day', 'in', days)
            .where('id', 'in', ids)
            .execute();
        }
        // A match goes with the last of its deliveries; one that may still be confirmed stays.
        const matches = await trx
          .selectFrom('match')
          .select(['id', 'block_day'])
          .where('id', '>', after)
          .where('id', '<=', last ?? youngest)
          .where('id', '<', delivered)
          .where('state', '<>', 'frozen')
          .where(
            sql<boolean>`not exists (select 1 from delivery
              where delivery.match_id = match.id and delivery.block_day = match.block_day)`,
          )
          .execute();
        const gone = split(matches);
        if (gone.ids.length > 0) {
          await trx
            .deleteFrom('match_transaction')
            .where('block_day', 'in', gone.days)
            .where('match_id', 'in', gone.ids)
            .execute();
          await trx
            .deleteFrom('match')
            .where('block_day', 'in', gone.days)
            .where('id', 'in', gone.ids)
            .execute();
        }
        return {
          deliveries: ids.length,
          undelivered: deliveries.filter(
            ({ state }) => state === 'enriching' || state === 'pending',
          ).length,
          next: last,
        };
      });
    },
  };
}

const split = (
  rows: readonly { id: string; block_day: string }[],
): { ids: string[]; days: string[] } => ({
  ids: rows.map((row) => row.id),
  days: [...new Set(rows.map((row) => row.block_day))],
});
