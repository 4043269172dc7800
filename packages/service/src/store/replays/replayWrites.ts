import { sql } from 'kysely';
import { readMoment, readNow } from '../engine/engine.ts';
import type { Ledger } from '../live/effects.ts';
import { newId } from '../rows/ids.ts';
import { deliveryColumns, toDeliverySummary } from '../rows/deliveryRow.ts';
import { creatorName, toReplay } from './replayRow.ts';
import { countFinished } from '../stats/statWrites.ts';
import { REPLAYED_STATE, isReplayable, resumeEnrichment } from '../deliveries/requeue.ts';
import { MAX_RUNNING_REPLAYS, type ReplayWrites } from './contract.ts';
import { countRunningReplays } from './replayReads.ts';

/** Writes bulk replays, which send many deliveries again. */
export function createReplayWrites({ db, engine, transact }: Ledger): ReplayWrites {
  return {
    async createReplay({ name, filter, perSecond, total, keyId }) {
      return transact(async (trx, effects) => {
        await engine.lock(trx, 'new replay');
        if ((await countRunningReplays(trx)) >= MAX_RUNNING_REPLAYS) return undefined;
        const now = await readNow(engine, trx);
        const row = await trx
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
          .returning(creatorName)
          .executeTakeFirstOrThrow();
        const replay = toReplay(row);
        effects.signal('replays');
        effects.publish({ type: 'replay', replay });
        return replay;
      });
    },

    async advanceReplay({ id, after, ids, isLast }) {
      return transact(async (trx, effects) => {
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
        if (moved === undefined) return false;
        const rows = await trx
          .selectFrom('delivery')
          .select([...deliveryColumns, 'block_day'])
          .where('id', 'in', [...ids, ''])
          .where(isReplayable)
          .orderBy('id')
          .modifyEnd(engine.lockRows('update'))
          .execute();
        const days = [...new Set(rows.map((row) => row.block_day))];
        for (const day of days) await engine.openDay(trx, day);
        const { open } = await readMoment(engine, trx);
        const before = rows.map(toDeliverySummary);
        await countFinished(trx, engine, before, open, -1);
        await resumeEnrichment(trx, rows);
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
        effects.moveDeliveries(
          changed.map(toDeliverySummary).filter((each) => !wasDue.has(each.id)),
        );
        return true;
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
