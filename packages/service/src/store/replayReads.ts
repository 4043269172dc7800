import { type Kysely, sql } from 'kysely';
import { allOf, toConditions } from './deliveryFilter.ts';
import { type Engine, readNow } from './engine.ts';
import { REPLAYABLE } from './replayWrites.ts';
import { toReplay } from './rows.ts';
import type { ReplayReads } from './store.ts';
import type { Tables } from './tables.ts';

/** Where counting ends: a million take about 80 ms. */
const COUNT_LIMIT = 1_000_000;

/** What can be sent again, and how far those are that send. */
export function createReplayReads(db: Kysely<Tables>, engine: Engine): ReplayReads {
  const countsOf = async (ids: readonly string[]) => {
    if (ids.length === 0) return new Map<string, never>();
    const rows = await db
      .selectFrom('delivery')
      .select(['replay_id', 'state'])
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .where('replay_id', 'in', ids)
      .where('replay_id', 'is not', null)
      .groupBy(['replay_id', 'state'])
      .execute();
    return Map.groupBy(rows, (row) => row.replay_id!);
  };

  return {
    async estimateReplay(filter) {
      const { rows } = await sql<{ deliveries: number; bytes: number | null }>`
        select count(*) as deliveries, cast(sum(body_bytes) as bigint) as bytes from (
          select body_bytes from delivery where ${isReplayable} and ${allOf(toConditions(filter))}
          limit ${COUNT_LIMIT}) as chosen`.execute(db);
      const { deliveries, bytes } = rows[0]!;
      return { deliveries, bytes: bytes ?? 0, isCapped: deliveries === COUNT_LIMIT };
    },

    async readReplay(id) {
      const row = await db.selectFrom('replay').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toReplay(row, (await countsOf([id])).get(id));
    },

    async listReplays(limit) {
      const rows = await db
        .selectFrom('replay')
        .selectAll()
        .orderBy('id', 'desc')
        .limit(limit)
        .execute();
      const counts = await countsOf(rows.map((row) => row.id));
      return rows.map((row) => toReplay(row, counts.get(row.id)));
    },

    async listRunningReplays() {
      const now = await readNow(engine, db);
      const rows = await db
        .selectFrom('replay')
        .select(['id', 'filter', 'per_second', 'position', 'last_id', 'next_at'])
        .where('state', '=', 'running')
        .orderBy('id')
        .execute();
      return rows.map((row) => ({
        id: row.id,
        filter: JSON.parse(row.filter) as object,
        perSecond: row.per_second,
        position: row.position,
        lastId: row.last_id,
        dueInMs: Math.max(0, row.next_at - now),
      }));
    },

    async listReplayable({ filter, after, lastId, limit }) {
      const { rows } = await sql<{ id: string }>`
        select id from delivery
        where id > ${after} and id <= ${lastId} and ${isReplayable}
          and ${allOf(toConditions(filter))}
        order by id limit ${limit}`.execute(db);
      return rows.map((row) => row.id);
    },
  };
}

const isReplayable = sql<boolean>`state in (${sql.join(REPLAYABLE)})
  and stream_id in (select id from stream where deleted_at is null)`;
