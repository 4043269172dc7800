/** Reads the feeds of streams, and the progress of their consumers. */
import { type Kysely, sql } from 'kysely';
import type { Engine } from '../engine/engine.ts';
import type { Tables } from '../tables/tables.ts';
import { toConsumer } from './consumers.ts';
import type { FeedReads } from './contract.ts';
import { listPlaced, readBodies, readHead, withinBytes } from './placed.ts';
import { countUnread, leasedIn, sizeOf, toProgress } from './progress.ts';

const MAX_LAGS = 1_000;

export const createFeedReads = (db: Kysely<Tables>, engine: Engine): FeedReads => ({
  async readFeedHeads(streamIds) {
    const ids = engine.texts(streamIds, 'id');
    const rows = await db
      .selectFrom('feed')
      .selectAll()
      .where(sql<boolean>`stream_id ${engine.isIn(sql`select id from ${ids} as asked`)}`)
      .execute();
    return Object.fromEntries(rows.map((row) => [row.stream_id, row.head]));
  },

  async readFeedAfter(streamId, { after, consumer }, { limit, maxBytes }) {
    const { now, head } = await readHead(db, engine, streamId);
    const known =
      after === undefined && consumer !== undefined
        ? await db
            .selectFrom('feed_consumer')
            .select('position')
            .where('stream_id', '=', streamId)
            .where('name', '=', consumer)
            .executeTakeFirst()
        : undefined;
    const position = after ?? known?.position ?? head;
    const rows = await listPlaced(db, streamId, [position + 1, head], limit);
    return { placed: withinBytes(rows, maxBytes), position, head, now };
  },

  readFeedBodies: (placed) => readBodies(db, engine, placed),

  async listFeedConsumers(streamId) {
    const rows = await db
      .selectFrom('feed_consumer')
      .selectAll()
      .where('stream_id', '=', streamId)
      .orderBy('name')
      .execute();
    const { head } = await readHead(db, engine, streamId);
    return Promise.all(rows.map((row) => toConsumer(db, row, head)));
  },

  async listFeedLags() {
    const rows = await db
      .selectFrom('feed_consumer')
      .innerJoin('feed', 'feed.stream_id', 'feed_consumer.stream_id')
      .selectAll('feed_consumer')
      .select('head')
      .orderBy(sql`head - position`, 'desc')
      .limit(MAX_LAGS)
      .execute();
    return rows.map((row) => {
      const progress = toProgress(row);
      return {
        streamId: row.stream_id,
        name: row.name,
        unread: countUnread(progress, row.head),
        leased: sizeOf(leasedIn(progress)),
        missed: row.missed,
      };
    });
  },

  async listFeedsBehind(createdBefore) {
    const { rows } = await sql<{
      stream_id: string;
      tag: string;
      name: string;
      oldest_at: number | null;
    }>`
      select stream_id, tag, name, oldest_at from (
        select feed_consumer.stream_id, stream.tag, feed_consumer.name, (
          select created_at from delivery
          where delivery.stream_id = feed_consumer.stream_id
            and feed_position > feed_consumer.position
          order by feed_position limit 1) as oldest_at
        from feed_consumer
        join feed on feed.stream_id = feed_consumer.stream_id
        join stream on stream.id = feed_consumer.stream_id
        where feed.head > feed_consumer.position and stream.deleted_at is null) as behind
      where oldest_at < ${createdBefore}`.execute(db);
    return rows.map((row) => ({
      streamId: row.stream_id,
      tag: row.tag,
      consumer: row.name,
      oldestAt: row.oldest_at!,
    }));
  },
});
