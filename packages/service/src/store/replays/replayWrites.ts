import { type Kysely, type Selectable, sql } from 'kysely';
import type { Db, Tables } from '../engine/tables.ts';
import { type Engine, readMoment, readNow } from '../engine/engine.ts';
import { newId } from '../ids.ts';
import { deliveryColumns, maker, toDeliverySummary, toReplay } from '../rows.ts';
import { countFinished } from '../stats/statWrites.ts';
import type { StoredState } from '../deliveries/tables.ts';
import type { ReplayWrites } from './contract.ts';

const REPLAYABLE: readonly StoredState[] = ['pending', 'succeeded', 'failed', 'quarantined'];

/**
 * Condition that a delivery can be replayed: it is not in progress or canceled, and it has a body
 * or can still get one from enrichment.
 */
export const isReplayable = sql<boolean>`(
  delivery.state in (${sql.join(REPLAYABLE.map((state) => sql.lit(state)))})
  and (delivery.state <> 'quarantined' or not exists (
    select 1 from match where match.id = delivery.match_id and match.block_day = delivery.block_day
      and match.set_aside is not null and match.enrichment is null)))`;

/**
 * Resumes the enrichment of these deliveries' matches, if they were set aside before their bodies
 * were complete.
 */
export async function takeUpAgain(
  trx: Db,
  deliveries: readonly Pick<Selectable<Tables['delivery']>, 'match_id' | 'block_day'>[],
): Promise<void> {
  await trx
    .updateTable('match')
    .set({ set_aside: null })
    .where('block_day', 'in', [...new Set(deliveries.map((row) => row.block_day)), ''])
    .where('id', 'in', [...deliveries.map((row) => row.match_id), ''])
    .where('set_aside', 'is not', null)
    .where('enrichment', 'is not', null)
    .execute();
}

/**
 * Expression for the state of a replayed delivery: `enriching` if its body is not complete, `held`
 * if its match is held, otherwise `pending`.
 */
export const REPLAYED_STATE = sql<'enriching' | 'held' | 'pending'>`
  coalesce((
    select case when match.enrichment is not null then 'enriching'
      when match.held = 1 then 'held' else 'pending' end
    from match where match.id = delivery.match_id and match.block_day = delivery.block_day),
    'pending')`;

/** Writes bulk replays, which send many deliveries again. */
export function createReplayWrites(db: Kysely<Tables>, engine: Engine): ReplayWrites {
  return {
    async createReplay({ name, filter, perSecond, total, keyId }) {
      const now = await readNow(engine, db);
      const row = await db
        .insertInto('replay')
        .values({
          id: newId(now),
          name,
          filter: JSON.stringify(filter),
          per_second: perSecond,
          state: 'running',
          total,
          replayed: 0,
          position: '',
          // Excludes deliveries that are created later.
          last_id: newId(now),
          next_at: now,
          created_by: keyId,
          created_at: now,
          updated_at: now,
        })
        .returningAll()
        .returning(maker)
        .executeTakeFirstOrThrow();
      return toReplay(row);
    },

    async advanceReplay({ id, after, ids, isLast }) {
      return db.transaction().execute(async (trx) => {
        const now = await readNow(engine, trx);
        // Only one process can advance the replay from this position, because for any other
        // process, the position has already changed.
        const moved = await trx
          .updateTable('replay')
          .set((eb) => ({
            position: ids.at(-1) ?? after,
            state: isLast ? ('done' as const) : eb.ref('state'),
            next_at: sql<number>`${now} + ceil(1000.0 * ${ids.length} / per_second)`,
            updated_at: now,
          }))
          .where('id', '=', id)
          .where('state', '=', 'running')
          .where('position', '=', after)
          .returning('id')
          .executeTakeFirst();
        if (moved === undefined) return undefined;
        let query = trx
          .selectFrom('delivery')
          .select([...deliveryColumns, 'block_day'])
          .where('id', 'in', [...ids, ''])
          .where(isReplayable)
          .orderBy('id');
        if (engine.name === 'postgres') query = query.forUpdate();
        const rows = await query.execute();
        const days = [...new Set(rows.map((row) => row.block_day))];
        for (const day of days) await engine.openDay(trx, day);
        const { open } = await readMoment(engine, trx);
        const before = rows.map(toDeliverySummary);
        await countFinished(trx, engine, before, open, -1);
        await takeUpAgain(trx, rows);
        const changed = await trx
          .updateTable('delivery')
          .set({ state: REPLAYED_STATE, run_at: now, lost: 0, replay_id: id, updated_at: now })
          .where('block_day', 'in', [...days, ''])
          .where('id', 'in', [...rows.map((row) => row.id), ''])
          .returning(deliveryColumns)
          .execute();
        await trx
          .updateTable('replay')
          .set((eb) => ({ replayed: eb('replayed', '+', rows.length) }))
          .where('id', '=', id)
          .execute();
        const wasDue = new Set(
          rows.filter((each) => each.state === 'pending').map((each) => each.id),
        );
        return changed.map(toDeliverySummary).filter((each) => !wasDue.has(each.id));
      });
    },

    async cancelReplay(id) {
      const { numUpdatedRows } = await db
        .updateTable('replay')
        .set({ state: 'cancelled', updated_at: await readNow(engine, db) })
        .where('id', '=', id)
        .where('state', '=', 'running')
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}
