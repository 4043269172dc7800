import { type Kysely, sql } from 'kysely';
import type { Db, Tables } from '../engine/tables.ts';
import { type Engine, readNow } from '../engine/engine.ts';
import { agedIds, isExpired } from './retentionReads.ts';
import type { RetentionWrites } from './contract.ts';

/**
 * Number of rows to examine before the first check of the clock, and at most between two checks.
 * Deleting a row touches many pages in SQLite and blocks its single writer.
 */
const ROWS = {
  sqlite: { first: 5, most: 80 },
  postgres: { first: 5_000, most: 5_000 },
} as const;

/**
 * Deletes rows in small batches, so that other work does not wait: all rows on SQLite, and rows in
 * partitions that cannot be dropped on PostgreSQL (`partitionWrites.ts`).
 */
export function createRetentionWrites(
  db: Kysely<Tables>,
  engine: Engine,
): Pick<RetentionWrites, 'deleteExpired'> {
  /**
   * Returns the end of the range after this id in which neither table has more than this number of
   * rows.
   */
  const findEnd = async (
    trx: Db,
    after: string,
    youngest: string,
    rows: number,
  ): Promise<string | undefined> => {
    // Ids of both tables are ordered by time, so ranges of ids are ranges of time.
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

  /** Deletes matches without deliveries, except those that may still be confirmed. */
  const deleteBare = async (trx: Db, after: string, last: string, delivered: string) => {
    // Uses only the keys of both tables, because on SQLite, a row with its body fills its own page.
    const sameDay =
      engine.name === 'postgres' ? sql`and delivery.block_day = match.block_day` : sql``;
    const bare = await trx
      .selectFrom('match')
      .select('id')
      .where('id', '>', after)
      .where('id', '<=', last)
      .where('id', '<', delivered)
      .where(
        sql<boolean>`not exists (select 1 from delivery
          where delivery.match_id = match.id ${sameDay})`,
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
        const aged = agedIds({ deliveredMs, undeliveredMs }, now);
        const sum = { deliveries: 0, undelivered: 0 };
        let position = after;
        let rows: number = ROWS[engine.name].first;
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
            ({ state }) => state === 'enriching' || state === 'pending',
          ).length;
          const ended = performance.now();
          if (end === undefined || ended >= until) return { ...sum, next: end };
          position = end;
          // Increases the number of rows if the duration of this batch leaves time for more.
          if (ended - began < (until - ended) / 4)
            rows = Math.min(2 * rows, ROWS[engine.name].most);
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
