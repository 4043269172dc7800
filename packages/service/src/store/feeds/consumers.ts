/** The rows of consumers. */
import { type Selectable, sql } from 'kysely';
import type { FeedConsumer } from '@sluice/kit/contract';
import type { Db, Tables } from '../tables/tables.ts';
import { type Progress, countUnread, leasedIn, sizeOf, toProgress } from './progress.ts';

const MAX_CONSUMERS = 100;

export type ConsumerRow = Selectable<Tables['feed_consumer']>;

export const selectConsumer = (db: Db, streamId: string, name: string) =>
  db
    .selectFrom('feed_consumer')
    .selectAll()
    .where('stream_id', '=', streamId)
    .where('name', '=', name);

/** Adds a consumer unless it exists or the feed has too many. */
export async function addConsumer(
  trx: Db,
  {
    streamId,
    name,
    position,
    now,
  }: { streamId: string; name: string; position: number; now: number },
): Promise<void> {
  await sql`
    insert into feed_consumer
      (stream_id, name, position, acked, leases, missed, created_at, active_at)
    select ${streamId}, ${name}, ${position}, '[]', '[]', 0, ${now}, ${now}
    where (select count(*) from feed_consumer where stream_id = ${streamId}) < ${MAX_CONSUMERS}
    on conflict (stream_id, name) do nothing`.execute(trx);
}

export async function saveProgress(
  trx: Db,
  { stream_id: streamId, name }: Pick<ConsumerRow, 'stream_id' | 'name'>,
  { position, acked, leases }: Progress,
  changes: Partial<Pick<ConsumerRow, 'active_at' | 'missed'>>,
): Promise<void> {
  await trx
    .updateTable('feed_consumer')
    .set({
      position,
      acked: JSON.stringify(acked),
      leases: JSON.stringify(leases),
      ...changes,
    })
    .where('stream_id', '=', streamId)
    .where('name', '=', name)
    .execute();
}

/** @param head the newest position of the feed */
export async function toConsumer(db: Db, row: ConsumerRow, head: number): Promise<FeedConsumer> {
  const progress = toProgress(row);
  const oldest = await db
    .selectFrom('delivery')
    .select('created_at')
    .where('stream_id', '=', row.stream_id)
    .where('feed_position', '>', row.position)
    .orderBy('feed_position')
    .limit(1)
    .executeTakeFirst();
  return {
    name: row.name,
    position: row.position,
    unread: countUnread(progress, head),
    leased: sizeOf(leasedIn(progress)),
    missed: row.missed,
    oldestAt: oldest?.created_at ?? null,
    createdAt: row.created_at,
    activeAt: row.active_at,
  };
}
