import { randomUUID } from 'node:crypto';
import { type Kysely, type Selectable, sql } from 'kysely';
import type { DeliverySummary } from '@sluice/kit/contract';
import { type Db, type Engine, readNow } from './engine.ts';
import { deliveryColumns, toDeliverySummary } from './rows.ts';
import type { AttemptOutcome, ClaimedDelivery, DeliveryWrites } from './store.ts';
import type { StatMetric, Tables } from './tables.ts';

const MINUTE_MS = 60_000;

/** What carries deliveries out: leases, attempts and their counts. */
export function createDeliveryWrites(db: Kysely<Tables>, engine: Engine): DeliveryWrites {
  return {
    async claimDeliveries({ limit, perStream, inFlight, leaseMs }) {
      return db.transaction().execute(async (trx): Promise<ClaimedDelivery[]> => {
        const now = await readNow(engine, trx);
        const lanes = await dueLanes(trx, now);
        // Lanes with least under way first, so that a busy one never holds back the others.
        lanes.sort((a, b) => (inFlight[a] ?? 0) - (inFlight[b] ?? 0));
        const due: string[] = [];
        for (const lane of lanes) {
          const room = Math.min(perStream - (inFlight[lane] ?? 0), limit - due.length);
          if (room <= 0) continue;
          const { rows } = await sql<{ id: string }>`
            select id from delivery
            where stream_id = ${lane} and state = 'pending' and run_at <= ${now}
            order by run_at limit ${room} ${engine.skipLocked}`.execute(trx);
          for (const row of rows) due.push(row.id);
          if (due.length >= limit) break;
        }
        if (due.length === 0) return [];

        const leaseToken = randomUUID();
        const ids = engine.rows(
          due.map((id) => ({ id })),
          { id: 'text' },
        );
        await sql`
          update delivery set state = 'leased', claims = claims + 1,
            lease_token = ${leaseToken}, lease_until = ${now + leaseMs}
          where id in (select id from ${ids} as due)`.execute(trx);
        const rows = await trx
          .selectFrom('delivery')
          .innerJoin('match', 'match.id', 'delivery.match_id')
          .innerJoin('stream', 'stream.id', 'delivery.stream_id')
          .select([
            'delivery.id',
            'delivery.stream_id',
            'delivery.phase',
            'delivery.attempts',
            'delivery.records',
            'match.body_head',
            'match.body_tail',
            'stream.webhook_url',
          ])
          .where(sql<boolean>`delivery.id in (select id from ${ids} as due)`)
          .execute();
        return rows.map((row) => ({
          id: row.id,
          leaseToken,
          streamId: row.stream_id,
          phase: row.phase,
          attempts: row.attempts,
          webhookUrl: row.webhook_url,
          bodyHead: row.body_head,
          bodyTail: row.body_tail,
          records: row.records,
        }));
      });
    },

    async completeDeliveries(outcomes) {
      return db.transaction().execute(async (trx) => {
        const now = await readNow(engine, trx);
        const finished = engine.rows(
          outcomes.map((outcome) => ({
            id: outcome.id,
            lease_token: outcome.leaseToken,
            state: outcome.result === 'retry' ? 'pending' : outcome.result,
            run_at: now + (outcome.result === 'retry' ? outcome.retryInMs : 0),
            status: outcome.status,
            error: outcome.error,
            duration_ms: outcome.durationMs,
          })),
          {
            id: 'text',
            lease_token: 'text',
            state: 'text',
            run_at: 'bigint',
            status: 'bigint',
            error: 'text',
            duration_ms: 'bigint',
          },
        );
        // Fenced: a lease that ran out and was taken by another is not ours to complete.
        const { rows } = await sql<Parameters<typeof toDeliverySummary>[0]>`
          update delivery set state = done.state, run_at = done.run_at,
            attempts = attempts + 1, lease_token = null, lease_until = null,
            last_status = done.status, last_error = done.error,
            last_duration_ms = done.duration_ms, updated_at = ${now}
          from ${finished} as done
          where delivery.id = done.id and delivery.lease_token = done.lease_token
            and delivery.state = 'leased'
          returning ${sql.join(deliveryColumns.map((column) => sql.ref(`delivery.${column}`)))}`.execute(
          trx,
        );
        const changed = new Map(rows.map((row) => [row.id, toDeliverySummary(row)]));
        const ours = outcomes.filter((outcome) => changed.has(outcome.id));
        if (ours.length === 0) return [];
        const attempts = engine.rows(
          ours.map((outcome) => ({
            delivery_id: outcome.id,
            number: changed.get(outcome.id)!.attempts,
            webhook_url: outcome.webhookUrl,
            started_at: outcome.startedAt,
            duration_ms: outcome.durationMs,
            status: outcome.status,
            error: outcome.error,
            response_body: outcome.responseBody,
          })),
          {
            delivery_id: 'text',
            number: 'bigint',
            webhook_url: 'text',
            started_at: 'bigint',
            duration_ms: 'bigint',
            status: 'bigint',
            error: 'text',
            response_body: 'text',
          },
        );
        await sql`
          insert into attempt (delivery_id, number, webhook_url, started_at, duration_ms, status,
            error, response_body)
          select delivery_id, number, webhook_url, started_at, duration_ms, status, error,
            response_body from ${attempts} as made`.execute(trx);
        await appendStats(trx, now, countByStream(ours, changed, true), 'delivered');
        await appendStats(trx, now, countByStream(ours, changed, false), 'failed_attempts');
        return [...changed.values()];
      });
    },

    async releaseLeases(scope) {
      const released = await sql`
        update delivery set state = 'pending', lease_token = null, lease_until = null
        where state = 'leased' ${
          scope === 'all' ? sql`` : sql`and lease_until < ${engine.now()}`
        }`.execute(db);
      return Number(released.numAffectedRows ?? 0n);
    },

    async rollUpStats() {
      await db.transaction().execute(async (trx) => {
        // Consumed rather than read up to an id: a lower id can still commit later.
        const { rows } = await sql<Selectable<Tables['stat_delta']>>`
          delete from stat_delta returning *`.execute(trx);
        const sums = new Map<string, Selectable<Tables['stat_delta']>>();
        for (const row of rows) {
          const key = `${row.stream_id} ${row.minute} ${row.metric}`;
          sums.set(key, { ...row, n: (sums.get(key)?.n ?? 0) + row.n });
        }
        if (sums.size === 0) return;
        await trx
          .insertInto('stat')
          .values([...sums.values()])
          .onConflict((conflict) =>
            conflict.columns(['stream_id', 'minute', 'metric']).doUpdateSet((eb) => ({
              n: eb('stat.n', '+', eb.ref('excluded.n')),
            })),
          )
          .execute();
      });
    },
  };
}

/**
 * Active streams with a delivery due, by one index seek per stream that has any pending: the cost
 * does not grow with the queues. A paused stream keeps its deliveries until it is resumed.
 */
async function dueLanes(trx: Db, now: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive lane(id) as (
      select min(stream_id) from delivery where state = 'pending'
      union all
      select (select min(stream_id) from delivery where state = 'pending' and stream_id > lane.id)
      from lane where lane.id is not null)
    select lane.id from lane join stream on stream.id = lane.id
    where stream.status = 'active' and exists (
      select 1 from delivery
      where stream_id = lane.id and state = 'pending' and run_at <= ${now})`.execute(trx);
  return rows.map((row) => row.id);
}

function countByStream(
  outcomes: readonly AttemptOutcome[],
  changed: ReadonlyMap<string, DeliverySummary>,
  succeeded: boolean,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const outcome of outcomes) {
    if ((outcome.result === 'succeeded') !== succeeded) continue;
    const streamId = changed.get(outcome.id)!.streamId;
    counts.set(streamId, (counts.get(streamId) ?? 0) + 1);
  }
  return counts;
}

async function appendStats(
  trx: Db,
  now: number,
  counts: Map<string, number>,
  metric: StatMetric,
): Promise<void> {
  if (counts.size === 0) return;
  const minute = Math.floor(now / MINUTE_MS);
  await trx
    .insertInto('stat_delta')
    .values([...counts].map(([streamId, n]) => ({ stream_id: streamId, minute, metric, n })))
    .execute();
}
