import { type SqlBool, sql } from 'kysely';
import { isWaiting } from '@sluice/kit/contract';
import { releaseMatches } from '../blocks/matches.ts';
import { readMoment, readNow } from '../engine/engine.ts';
import type { Ledger } from '../live/effects.ts';
import { REPLAYED_STATE, isReplayable, resumeEnrichment } from './requeue.ts';
import { streamOf } from '../rows/laneIds.ts';
import { deliveryColumns, toDeliverySummary } from '../rows/deliveryRow.ts';
import { countFinished } from '../stats/statWrites.ts';
import type { HistoryWrites } from './contract.ts';

export function createHistoryWrites({ engine, transact }: Ledger): HistoryWrites {
  return {
    async replayDelivery(streamId, id) {
      return transact(async (trx, effects) => {
        const row = await trx
          .selectFrom('delivery')
          .innerJoin('stream', 'stream.id', 'delivery.stream_id')
          .select(deliveryColumns.map((column) => `delivery.${column}` as const))
          .select(['delivery.block_day', isReplayable.as('is_replayable')])
          .where('delivery.id', '=', id)
          .where('stream.deleted_at', 'is', null)
          .modifyEnd(engine.lockRows('update', { of: 'delivery' }))
          .executeTakeFirst();
        if (row === undefined || streamOf(row.stream_id) !== streamId) return undefined;
        const before = toDeliverySummary(row);
        if (!row.is_replayable) return { before, after: before };
        await engine.openDay(trx, row.block_day);
        const { now, open } = await readMoment(engine, trx);
        await countFinished(trx, engine, [before], open, -1);
        await resumeEnrichment(trx, [row]);
        const replayed = await trx
          .updateTable('delivery')
          .set({
            state: REPLAYED_STATE,
            run_at: now,
            lost: 0,
            updated_at: now,
            // A pending or retrying delivery is only sent early, which is not a replay.
            ...(row.state !== 'pending' && { replay_id: sql`coalesce(replay_id, '')` }),
          })
          .where('id', '=', id)
          .where('block_day', '=', row.block_day)
          .returning(deliveryColumns)
          .executeTakeFirstOrThrow();
        // Probes the receiver at once, because a manual replay suggests that it works again.
        await sql`
          update stream set back_off_until = ${now}
          where id = ${row.stream_id} and back_off_reason = 'failures' and back_off_until > ${now}`.execute(
          trx,
        );
        await sql`
          update stream set probe_at = ${now}
          where id = ${row.stream_id} and status = 'error' and probe_at > ${now}`.execute(trx);
        const after = toDeliverySummary(replayed);
        if (isWaiting(before.state)) effects.offerDeliveries([after]);
        else effects.moveDeliveries([after]);
        return { before, after };
      });
    },

    async stopDelivery(id) {
      return transact(async (trx, effects) => {
        const { now, open } = await readMoment(engine, trx);
        const row = await trx
          .updateTable('delivery')
          .set({
            state: 'failed',
            last_error: sql<string>`'stopped by hand' || coalesce('; the last attempt failed: ' || last_error, '')`,
            updated_at: now,
          })
          .where(open('block_day'))
          .where('id', '=', id)
          .where('state', 'in', ['held', 'pending'])
          .returning(deliveryColumns)
          .executeTakeFirst();
        if (row === undefined) return undefined;
        const stopped = toDeliverySummary(row);
        await countFinished(trx, engine, [stopped], open, 1);
        effects.moveDeliveries([stopped]);
        return stopped;
      });
    },

    async releaseDelivery(id) {
      return transact(async (trx, effects) => {
        const row = await trx
          .selectFrom('delivery')
          .innerJoin('match', 'match.id', 'delivery.match_id')
          .select(['match.stream_id', 'match.chain', 'match.block_hash'])
          .where('delivery.id', '=', id)
          .where('delivery.state', '=', 'held')
          .executeTakeFirst();
        if (row === undefined) return undefined;
        const { stream_id: streamId, chain, block_hash: hash } = row;
        const released = await releaseMatches(
          trx,
          sql<SqlBool>`chain = ${chain} and block_hash = ${hash} and stream_id = ${streamId}`,
          await readNow(engine, trx),
        );
        effects.offerDeliveries(released);
        return released;
      });
    },
  };
}
