import { type Kysely, sql } from 'kysely';
import type { Db, Tables } from '../tables/tables.ts';
import { type Engine, readNow } from '../engine/engine.ts';
import { expiredIds, isExpired } from './retentionReads.ts';
import type { RetentionWrites } from './contract.ts';

/**
 * Deletes expired rows in small batches, so that other work does not wait. The clock is checked after
 * each batch.
 */
export function createRetentionWrites(db: Kysely<Tables>, engine: Engine): RetentionWrites {
  /**
   * Returns the last id of a range after `after` that has at most `rows` rows in each table;
   * undefined if the range ends at `youngest`.
   */
  const findEnd = async (
    trx: Db,
    after: string,
    youngest: string,
    rows: number,
  ): Promise<string | undefined> => {
    // The ids of both tables are ordered by time, so a range of ids covers the same time in both.
    let last: string | undefined;
    for (const table of ['delivery', 'match'] as const) {
      const end = await trx
        .selectFrom(table)
        .select('id')
        .where('id', '>', after)
        .where('id', '<', last ?? youngest)
        .orderBy('id')
        .offset(rows - 1)
        .limit(1)
        .executeTakeFirst();
      last = end?.id ?? last;
    }
    return last;
  };

  /** Deletes old matches without deliveries, except those that may still be confirmed. */
  const deleteBare = async (trx: Db, after: string, last: string, delivered: string) => {
    // This search reads only the keys of both tables, because a row with its body may fill a page.
    const bare = await trx
      .selectFrom('match')
      .select('id')
      .where('id', '>', after)
      .where('id', '<=', last)
      .where('id', '<', delivered)
      .where(
        sql<boolean>`not exists (select 1 from delivery
          where delivery.match_id = match.id
            and ${engine.isSameDay('delivery.block_day', 'match.block_day')})`,
      )
      .execute();
    if (bare.length === 0) return;
    const matches = await trx
      .selectFrom('match')
      .select(['id', 'block_day'])
      .where(sql<boolean>`id ${engine.isIn(textsOf(bare))}`)
      .where('state', '<>', 'frozen')
      .execute();
    const { ids, days } = split(matches);
    if (ids.length === 0) return;
    await trx
      .deleteFrom('match_transaction')
      .where('block_day', 'in', days)
      .where('match_id', 'in', ids)
      .execute();
    await trx.deleteFrom('match').where('block_day', 'in', days).where('id', 'in', ids).execute();
  };

  const textsOf = (each: readonly { id: string }[]) => {
    const texts = engine.texts(
      each.map(({ id }) => id),
      'id',
    );
    return sql`select id from ${texts} as texts`;
  };

  return {
    async deleteExpired({ deliveredMs, undeliveredMs, forMs, after }) {
      const until = performance.now() + forMs;
      return db.transaction().execute(async (trx) => {
        const now = await readNow(engine, trx);
        const aged = expiredIds({ deliveredMs, undeliveredMs }, now);
        const sum = { deliveries: 0, undelivered: 0 };
        let position = after;
        let rows = engine.expiryBatch.first;
        for (;;) {
          const began = performance.now();
          const end = await findEnd(trx, position, aged.youngest, rows);
          const last = end ?? aged.youngest;
          const deliveries = await trx
            .selectFrom('delivery')
            .select(['id', 'state', 'block_day'])
            .where('id', '>', position)
            .where('id', '<=', last)
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
          await deleteBare(trx, position, last, aged.delivered);
          sum.deliveries += ids.length;
          sum.undelivered += deliveries.filter(
            ({ state }) => state === 'enriching' || state === 'held' || state === 'pending',
          ).length;
          const ended = performance.now();
          if (end === undefined || ended >= until) return { ...sum, next: end };
          position = end;
          // Doubles the number of rows, up to the maximum, if this batch took less than a quarter
          // of the remaining time.
          if (ended - began < (until - ended) / 4)
            rows = Math.min(2 * rows, engine.expiryBatch.most);
        }
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
