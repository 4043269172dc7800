/** Moves consumers past deliveries that expire, and deletes the feeds of deleted streams. */
import { sql } from 'kysely';
import { addUnreadHole } from '../blocks/coverage.ts';
import { readNow } from '../engine/engine.ts';
import type { Ledger } from '../live/effects.ts';
import { firstIdAt } from '../rows/ids.ts';
import { streamOf } from '../rows/laneIds.ts';
import type { Db } from '../tables/tables.ts';
import { type ConsumerRow, saveProgress, selectConsumer } from './consumers.ts';
import type { FeedUpkeep } from './contract.ts';
import { feedPosition } from './placed.ts';
import { acknowledge, sizeOf, toProgress } from './progress.ts';
import { type Range, gapsIn, toRanges } from './ranges.ts';

/** Maximum number of deliveries that a consumer skips per transaction. */
const SKIPPED_AT_ONCE = 2_000;

export function createFeedUpkeep({ db, engine }: Pick<Ledger, 'db' | 'engine'>): FeedUpkeep {
  /** Skips some deliveries with an ID below `kept`. Returns how many, and how many were missed. */
  const skipSome = (
    { stream_id: streamId, name }: Pick<ConsumerRow, 'stream_id' | 'name'>,
    kept: string,
    now: number,
  ): Promise<{ skipped: number; missed: number }> =>
    db.transaction().execute(async (trx) => {
      const row = await selectConsumer(trx, streamId, name)
        .modifyEnd(engine.lockRows('update'))
        .executeTakeFirst();
      if (row === undefined) return { skipped: 0, missed: 0 };
      const progress = toProgress(row);
      const expiring = await trx
        .selectFrom('delivery')
        .select(['chain', 'block_number', feedPosition.as('position')])
        .where('stream_id', '=', streamId)
        .where('feed_position', '>', progress.position)
        .where('id', '<', kept)
        .orderBy('feed_position')
        .limit(SKIPPED_AT_ONCE)
        .execute();
      if (expiring.length === 0) return { skipped: 0, missed: 0 };
      const skipped = toRanges(expiring.map(({ position }) => position));
      const missed = skipped.flatMap((range) => gapsIn(range, progress.acked));
      const missedRows = expiring.filter(({ position }) => isIn(position, missed));
      await recordHoles(trx, row, missedRows, now);
      const count = sizeOf(missed);
      await saveProgress(trx, row, acknowledge(progress, skipped), { missed: row.missed + count });
      return { skipped: expiring.length, missed: count };
    });

  return {
    async skipExpiring({ deliveredMs }) {
      const now = await readNow(engine, db);
      const kept = firstIdAt(now - deliveredMs);
      const consumers = await db
        .selectFrom('feed_consumer')
        .select(['stream_id', 'name'])
        .execute();
      const found: { streamId: string; consumer: string; missed: number }[] = [];
      for (const consumer of consumers) {
        let missed = 0;
        for (;;) {
          const some = await skipSome(consumer, kept, now);
          missed += some.missed;
          if (some.skipped < SKIPPED_AT_ONCE) break;
        }
        if (missed === 0) continue;
        found.push({ streamId: consumer.stream_id, consumer: consumer.name, missed });
      }
      return found;
    },

    async deleteFeeds() {
      for (const table of ['feed_consumer', 'feed'] as const) {
        await sql`
          delete from ${sql.table(table)} where stream_id in (
            select id from stream where deleted_at is not null)`.execute(db);
      }
    },
  };
}

const isIn = (position: number, ranges: readonly Range[]): boolean =>
  ranges.some(([from, to]) => from <= position && position <= to);

/** Adds the blocks of missed deliveries to the holes of the stream, one range per chain. */
async function recordHoles(
  trx: Db,
  { stream_id: laneId, active_at: since }: ConsumerRow,
  missed: readonly { chain: string; block_number: number }[],
  now: number,
): Promise<void> {
  for (const [chain, theirs] of Map.groupBy(missed, (each) => each.chain)) {
    const blocks = theirs.map((each) => each.block_number);
    const range = { from: Math.min(...blocks), to: Math.max(...blocks) };
    await addUnreadHole(trx, { streamId: streamOf(laneId), chain, ...range, since, now });
  }
}
