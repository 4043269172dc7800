import type { DeliveryState } from '@sluice/kit/contract';
import { type Kysely, sql } from 'kysely';
import { allOf, inLanes, toConditions } from '../deliveries/deliveryFilter.ts';
import { type Engine, readNow } from '../engine/engine.ts';
import { isReplayable } from '../deliveries/requeue.ts';
import { creatorName, toReplay } from './replayRow.ts';
import type { ReplayReads } from './contract.ts';
import type { Db, Tables } from '../tables/tables.ts';

/** Maximum number of deliveries that an estimate counts. Counting them takes about 80 ms. */
const COUNT_LIMIT = 1_000_000;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/**
 * Preferred lengths of a step in the progress chart. Replays of more than 30 days use longer steps.
 */
const STEPS_MS = [1, 2, 5, 10, 30]
  .map((seconds) => seconds * SECOND)
  .concat([1, 2, 5, 10, 30].map((minutes) => minutes * MINUTE))
  .concat([1, 2, 6, 12].map((hours) => hours * HOUR));
const MAX_STEPS = 60;
/**
 * Time after the last step of a replay that its progress chart still covers, because the deliveries
 * of that step are sent later.
 */
const LAST_SENT_MS = 15 * SECOND;

/** Reads replays and their progress, and finds replayable deliveries. */
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
    async estimateReplay(given) {
      const filter = await inLanes(db, given);
      const { rows } = await sql<{ deliveries: number; bytes: number | null }>`
        select count(*) as deliveries, cast(sum(body_bytes) as bigint) as bytes from (
          select body_bytes from delivery where ${canBeSentAgain} and ${allOf(toConditions(filter))}
          limit ${COUNT_LIMIT}) as chosen`.execute(db);
      const { deliveries, bytes } = rows[0]!;
      return { deliveries, bytes: bytes ?? 0, isCapped: deliveries === COUNT_LIMIT };
    },

    async readReplay(id) {
      const row = await db
        .selectFrom('replay')
        .selectAll()
        .select(creatorName)
        .where('id', '=', id)
        .executeTakeFirst();
      return row && toReplay(row, (await countsOf([id])).get(id));
    },

    async listReplays(limit) {
      const rows = await db
        .selectFrom('replay')
        .selectAll()
        .select(creatorName)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .execute();
      const counts = await countsOf(rows.map((row) => row.id));
      return rows.map((row) => toReplay(row, counts.get(row.id)));
    },

    async readReplayProgress({ id, state, createdAt, updatedAt }) {
      const now = await readNow(engine, db);
      const end = state === 'running' ? now : Math.min(now, updatedAt + LAST_SENT_MS);
      const spanMs = Math.max(1, end - createdAt);
      const stepMs =
        STEPS_MS.find((each) => spanMs <= each * MAX_STEPS) ?? Math.ceil(spanMs / MAX_STEPS);
      const { rows } = await sql<{ step: number; state: DeliveryState; n: number }>`
        select cast((updated_at - ${createdAt}) / ${stepMs} as bigint) as step, state, count(*) as n
        from delivery where replay_id = ${id} and state in ('succeeded', 'failed', 'quarantined')
          and updated_at between ${createdAt} and ${end}
        group by 1, 2`.execute(db);
      const count = Math.ceil(spanMs / stepMs);
      const series = (...states: DeliveryState[]): number[] => {
        const values = Array.from({ length: count }, () => 0);
        for (const row of rows) {
          const at = Math.min(row.step, count - 1);
          if (states.includes(row.state)) values[at] = (values[at] ?? 0) + row.n;
        }
        return values;
      };
      return { stepMs, succeeded: series('succeeded'), failed: series('failed', 'quarantined') };
    },

    countRunningReplays: () => countRunningReplays(db),

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

    async listReplayable({ filter: given, after, lastId, limit }) {
      const filter = await inLanes(db, given);
      const { rows } = await sql<{ id: string }>`
        select id from delivery
        where id > ${after} and id <= ${lastId} and ${canBeSentAgain}
          and ${allOf(toConditions(filter))}
        order by id limit ${limit}`.execute(db);
      return rows.map((row) => row.id);
    },
  };
}

export async function countRunningReplays(db: Db): Promise<number> {
  const { n } = await db
    .selectFrom('replay')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('state', '=', 'running')
    .executeTakeFirstOrThrow();
  return n;
}

const canBeSentAgain = sql<boolean>`${isReplayable}
  and stream_id in (select id from stream where deleted_at is null)`;
