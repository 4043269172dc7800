import type { DeliveryState } from '@sluice/kit/contract';
import type { Kysely } from 'kysely';
import { type Engine, readMoment } from './engine.ts';
import { deliveryColumns, toDeliverySummary } from './rows.ts';
import { countFinished } from './statWrites.ts';
import type { HistoryWrites } from './store.ts';
import type { Tables } from './tables.ts';

const REPLAYABLE: readonly DeliveryState[] = ['pending', 'succeeded', 'failed', 'quarantined'];

export function createHistoryWrites(db: Kysely<Tables>, engine: Engine): HistoryWrites {
  return {
    async replayDelivery(streamId, id) {
      return db.transaction().execute(async (trx) => {
        let query = trx
          .selectFrom('delivery')
          .innerJoin('stream', 'stream.id', 'delivery.stream_id')
          .select(deliveryColumns.map((column) => `delivery.${column}` as const))
          .select('delivery.block_day')
          .where('delivery.id', '=', id)
          .where('delivery.stream_id', '=', streamId)
          .where('stream.deleted_at', 'is', null);
        if (engine.name === 'postgres') query = query.forUpdate('delivery');
        const row = await query.executeTakeFirst();
        if (row === undefined) return undefined;
        const before = toDeliverySummary(row);
        if (!REPLAYABLE.includes(before.state)) return { before, after: before };
        await engine.openDay(trx, row.block_day);
        const { now, open } = await readMoment(engine, trx);
        await countFinished(trx, engine, [before], open, -1);
        const after = await trx
          .updateTable('delivery')
          .set({ state: 'pending', run_at: now, lost: 0, updated_at: now })
          .where('id', '=', id)
          .where('block_day', '=', row.block_day)
          .returning(deliveryColumns)
          .executeTakeFirstOrThrow();
        return { before, after: toDeliverySummary(after) };
      });
    },
  };
}
