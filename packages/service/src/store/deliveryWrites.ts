import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { joinBody } from './body.ts';
import { type Db, type Engine, readMoment } from './engine.ts';
import { PROBE_EVERY_MS } from './healthWrites.ts';
import { type LaneTurns, isLimited, takeTurns, toTurns } from './laneLimits.ts';
import { LANES_AT_ONCE, type OpenLane, dueLanes, findDue, holdLanes } from './lanes.ts';
import { packTexts } from './packedTexts.ts';
import type { DayFilter } from './partitions.ts';
import { deliveryColumns, toDeliverySummary } from './rows.ts';
import { countActivity, countFinished } from './statWrites.ts';
import type { ClaimedDelivery, DeliveryWrites, SealedSecret } from './store.ts';
import type { Tables } from './tables.ts';
import { packTransport } from './transport.ts';

/** Leases lost on end that make a delivery suspect, and those that condemn it unsent. */
const SUSPECT_LOST = 2;
const CONDEMNED_LOST = 10;
const CONDEMNED = `the service died ${CONDEMNED_LOST} times on end as it took this delivery up, before it could be sent: replay it once the cause is found`;

/** Of a lane without limits of its own. */
const FREE: LaneTurns = { room: Number.POSITIVE_INFINITY, firstAt: 0, intervalMs: 0 };

/** A delivery that is claimed, and how long it waits for its turn. */
interface Turn {
  id: string;
  waitMs: number;
}

type DeliveryRow = Parameters<typeof toDeliverySummary>[0];
type LeasedRow = Pick<
  Tables['delivery'],
  'id' | 'match_id' | 'stream_id' | 'phase' | 'attempts' | 'fast_retried' | 'records' | 'body_bytes'
>;

/** What carries deliveries out: leases, attempts and their counts. */
export function createDeliveryWrites(db: Kysely<Tables>, engine: Engine): DeliveryWrites {
  const lease = async (
    trx: Db,
    due: readonly Turn[],
    open: DayFilter,
    now: number,
    leaseMs: number,
  ): Promise<ClaimedDelivery[]> => {
    if (due.length === 0) return [];
    const leaseToken = randomUUID();
    const listed = (each: readonly { id: string }[]) =>
      engine.texts(
        each.map(({ id }) => id),
        'id',
      );
    const waitOf = new Map(due.map(({ id, waitMs }) => [id, waitMs]));
    // One that was cancelled since it was found is not pending any more.
    const { rows } = await sql<LeasedRow>`
      update delivery set state = 'leased', claims = claims + 1,
        lease_token = ${leaseToken}, lease_until = ${now + leaseMs}
      where ${open('block_day')} and id in (select id from ${listed(due)} as due)
        and ${engine.opaque('state')} = 'pending'
      returning id, match_id, stream_id, phase, attempts, fast_retried, records, body_bytes`.execute(
      trx,
    );
    if (rows.length === 0) return [];
    const matches = await trx
      .selectFrom('match')
      .select(['id', 'body_head', 'body_tail', 'part', 'parts'])
      .where(open('block_day'))
      .where(
        sql<boolean>`id in (select id from ${listed(rows.map((row) => ({ id: row.match_id })))} as asked)`,
      )
      .execute();
    const streams = await trx
      .selectFrom('stream')
      .select(['id', 'webhook_url', 'headers', 'secrets', 'status'])
      .where('id', 'in', [...new Set(rows.map((row) => row.stream_id))])
      .execute();
    const matchOf = new Map(matches.map((match) => [match.id, match]));
    // Deliveries of one stream share these: on their way between threads objects are copied once.
    const endpointOf = new Map(
      streams.map((stream) => [
        stream.id,
        {
          streamId: stream.id,
          webhookUrl: stream.webhook_url,
          headers: JSON.parse(stream.headers) as Record<string, string>,
          secrets: JSON.parse(stream.secrets) as SealedSecret[],
          isProbe: stream.status === 'error',
        },
      ]),
    );
    const found = rows.flatMap((row) => {
      const match = matchOf.get(row.match_id);
      const endpoint = endpointOf.get(row.stream_id);
      return match === undefined || endpoint === undefined ? [] : [{ row, match, endpoint }];
    });
    const bodies = packTexts(
      found.map(({ row, match }) =>
        joinBody({
          bodyHead: match.body_head,
          bodyTail: match.body_tail,
          phase: row.phase,
          retries: row.attempts,
        }),
      ),
    );
    return found.map(({ row, match, endpoint }, n) => ({
      id: row.id,
      leaseToken,
      claimedAt: now,
      phase: row.phase,
      attempts: row.attempts,
      fastRetried: row.fast_retried === 1,
      body: bodies[n]!,
      bodyBytes: row.body_bytes,
      records: row.records,
      part: match.part,
      parts: match.parts,
      ...endpoint,
      waitMs: waitOf.get(row.id) ?? 0,
    }));
  };

  return {
    async claimDeliveries({ limit, maxBytes, perStream, taken, leaseMs }) {
      return db.transaction().execute(async (trx): Promise<ClaimedDelivery[]> => {
        const { now, open } = await readMoment(engine, trx);
        const takenOf = new Map(Object.entries(taken));
        const lanes = await dueLanes(trx, open, now);
        // Lanes with least under way first, so that a busy one never holds back the others.
        lanes.sort((a, b) => (takenOf.get(a.id) ?? 0) - (takenOf.get(b.id) ?? 0));
        // A little of many rather than much of a few: what was made together stands together on disk.
        const share = Math.ceil(limit / Math.min(lanes.length, LANES_AT_ONCE));
        const due: Turn[] = [];
        let bytes = 0;
        for (
          let n = 0;
          n < lanes.length && due.length < limit && bytes < maxBytes;
          n += LANES_AT_ONCE
        ) {
          const held = await holdLanes(trx, engine, lanes.slice(n, n + LANES_AT_ONCE), open);
          const roomy = held.flatMap(({ lane, leased, nextSendAt }): OpenLane[] => {
            // Whoever else sends to the stream leaves so much less room; so does a receiver that fails.
            const busy = Math.max(leased, takenOf.get(lane.id) ?? 0);
            const most = lane.status === 'error' ? 1 : perStream - busy;
            const turns = isLimited(lane) ? toTurns(lane, { leased, nextSendAt }, now) : FREE;
            const room = Math.min(most, share, turns?.room ?? 0);
            return turns === undefined || room <= 0 ? [] : [{ lane, room, turns }];
          });
          const found = await findDue(trx, engine, roomy, { now, open });
          for (const { lane, room, turns } of roomy) {
            const rows = (found.get(lane.id) ?? []).slice(0, Math.min(room, limit - due.length));
            if (rows.length === 0 || bytes >= maxBytes) continue;
            if (lane.status === 'error' && !(await takeProbe(trx, lane.id, now))) continue;
            const fitting: string[] = [];
            for (const row of rows) {
              if (due.length + fitting.length > 0 && bytes + row.body_bytes > maxBytes) break;
              fitting.push(row.id);
              bytes += row.body_bytes;
            }
            const waits = await takeTurns(trx, lane, turns, fitting.length, now);
            due.push(...fitting.map((id, each) => ({ id, waitMs: waits[each]! })));
          }
        }
        return lease(trx, due, open, now, leaseMs);
      });
    },

    async claimSuspect({ leaseMs, notStreams }) {
      return db.transaction().execute(async (trx) => {
        const { now, open } = await readMoment(engine, trx);
        const { rows } = await sql<{ id: string }>`
          select delivery.id from delivery join stream on stream.id = delivery.stream_id
          where ${open('block_day')} and state = 'pending' and lost >= 2 and run_at <= ${now}
            and stream.status = 'active' and stream.deleted_at is null
            and (stream.next_send_at is null or stream.next_send_at <= ${now})
            and (stream.max_in_flight is null or stream.max_in_flight > (
              select count(*) from delivery as other
              where ${open('other.block_day')} and other.state = 'leased' and other.stream_id = delivery.stream_id))
            and (ordered = 0 or (
              not exists (select 1 from delivery as other
                where ${open('other.block_day')} and other.state = 'leased'
                  and other.stream_id = delivery.stream_id)
              and not exists (select 1 from delivery as other
                where ${open('other.block_day')} and other.stream_id = delivery.stream_id
                  and other.id < delivery.id
                  and other.ordered = 1 and other.state in ('enriching', 'pending', 'leased'))))
            ${notStreams.length === 0 ? sql`` : sql`and stream.id not in (${sql.join(notStreams)})`}
          order by run_at limit 1 ${
            engine.name === 'postgres' ? sql`for update of delivery skip locked` : sql``
          }`.execute(trx);
        if (rows[0] === undefined) return undefined;
        await sql`
          update stream set next_send_at = ${now} + ceil(1000 / max_per_second)
          where max_per_second is not null
            and id = (
            select stream_id from delivery where ${open('block_day')} and id = ${rows[0].id})`.execute(
          trx,
        );
        return (
          await lease(
            trx,
            rows.map(({ id }) => ({ id, waitMs: 0 })),
            open,
            now,
            leaseMs,
          )
        )[0];
      });
    },

    async noteIsolated({ id, leaseToken }) {
      await db
        .updateTable('delivery')
        .set({ lost: SUSPECT_LOST - 1 })
        .where('id', '=', id)
        .where('lease_token', '=', leaseToken)
        .execute();
    },

    async extendLeases(leases, leaseMs) {
      if (leases.length === 0) return [];
      const { now, open } = await readMoment(engine, db);
      const held = engine.rows(
        leases.map(({ id, leaseToken }) => ({ held_id: id, token: leaseToken })),
        { held_id: 'text', token: 'text' },
      );
      const { rows } = await sql<{ id: string }>`
        update delivery set lease_until = ${now + leaseMs} from ${held} as held
        where ${open('delivery.block_day')} and delivery.id = held.held_id
          and delivery.lease_token = held.token
        returning delivery.id`.execute(db);
      return rows.map(({ id }) => id);
    },

    async completeDeliveries(outcomes) {
      return db.transaction().execute(async (trx) => {
        const { now, open } = await readMoment(engine, trx);
        const finished = engine.rows(
          outcomes.map((outcome) => ({
            id: outcome.id,
            lease_token: outcome.leaseToken,
            state: outcome.result === 'retry' ? 'pending' : outcome.result,
            run_at: now + (outcome.result === 'retry' ? outcome.retryInMs : 0),
            status: outcome.status,
            error: outcome.error,
            duration_ms: outcome.durationMs,
            fast: outcome.isFastRetry ? 1 : 0,
          })),
          {
            id: 'text',
            lease_token: 'text',
            state: 'text',
            run_at: 'bigint',
            status: 'bigint',
            error: 'text',
            duration_ms: 'bigint',
            fast: 'bigint',
          },
        );
        // Fenced: a lease that ran out and was taken by another is not ours to complete.
        const { rows } = await sql<DeliveryRow & { block_day: string }>`
          update delivery set state = done.state, run_at = done.run_at,
            attempts = attempts + 1, lease_token = null, lease_until = null, lost = 0,
            fast_retried = case when done.fast = 1 then 1 else fast_retried end,
            last_status = done.status, last_error = done.error,
            last_duration_ms = done.duration_ms, updated_at = ${now}
          from ${finished} as done
          where ${open('delivery.block_day')} and delivery.id = done.id
            and delivery.lease_token = done.lease_token
          returning delivery.block_day,
            ${sql.join(deliveryColumns.map((column) => sql.ref(`delivery.${column}`)))}`.execute(
          trx,
        );
        const changedOf = new Map(
          rows.map((row) => [row.id, { delivery: toDeliverySummary(row), day: row.block_day }]),
        );
        const ended = outcomes.flatMap((outcome) => {
          const changed = changedOf.get(outcome.id);
          return changed === undefined ? [] : [{ outcome, ...changed }];
        });
        if (ended.length === 0) return [];
        const again = ended.filter(({ outcome }) => outcome.result === 'retry');
        const pointless = await cancelPointless(
          trx,
          open,
          again.map(({ delivery }) => delivery.id),
        );
        for (const id of pointless) changedOf.get(id)!.delivery.state = 'cancelled';
        // Nearly every attempt goes over an open connection: a column that none needs is not asked for.
        const hasTransports = ended.some(({ outcome }) => outcome.transport !== null);
        const transport = hasTransports ? sql`, transport` : sql``;
        const attempts = engine.rows(
          ended.map(({ outcome, delivery, day }) => ({
            delivery_id: delivery.id,
            number: delivery.attempts,
            block_day: day,
            webhook_url: outcome.webhookUrl,
            started_at: outcome.startedAt,
            duration_ms: outcome.durationMs,
            status: outcome.status,
            error: outcome.error,
            response_body: outcome.responseBody,
            ...(outcome.transport !== null && { transport: packTransport(outcome.transport) }),
          })),
          {
            delivery_id: 'text',
            number: 'bigint',
            block_day: 'text',
            webhook_url: 'text',
            started_at: 'bigint',
            duration_ms: 'bigint',
            status: 'bigint',
            error: 'text',
            response_body: 'text',
            ...(hasTransports && { transport: 'text' as const }),
          },
        );
        await sql`
          insert into attempt (delivery_id, number, block_day, webhook_url, started_at,
            duration_ms, status, error, response_body${transport})
          select delivery_id, number, block_day, webhook_url, started_at, duration_ms, status,
            error, response_body${transport} from ${attempts} as made`.execute(trx);
        await countActivity(trx, engine, ended, now);
        const changed = ended.map(({ delivery }) => delivery);
        await countFinished(trx, engine, changed, open, 1);
        return changed;
      });
    },

    async releaseLeases(scope) {
      return db.transaction().execute(async (trx) => {
        const { open } = await readMoment(engine, trx);
        const { rows } = await sql<DeliveryRow & { lost: number }>`
          update delivery set lost = lost + 1, lease_token = null, lease_until = null,
            state = case when lost + 1 >= ${CONDEMNED_LOST} then 'quarantined' else 'pending' end,
            last_error = case when lost + 1 >= ${CONDEMNED_LOST} then ${CONDEMNED} else last_error end
          where ${open('block_day')} and state = 'leased' ${
            scope === 'all' ? sql`` : sql`and lease_until < ${engine.now()}`
          } returning ${sql.join([...deliveryColumns, 'lost'].map((column) => sql.ref(column)))}`.execute(
          trx,
        );
        const quarantined = rows.filter((row) => row.state === 'quarantined');
        return {
          released: rows.length - quarantined.length,
          suspects: rows.filter((row) => row.lost === SUSPECT_LOST).length,
          quarantined: quarantined.map(toDeliverySummary),
        };
      });
    },
  };
}

/**
 * Of deliveries that are to be tried again, those that nobody wants any more: their stream was deleted
 * meanwhile, or they take back a block that has come back and was announced anew.
 */
async function cancelPointless(
  trx: Db,
  open: DayFilter,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ id: string }>`
    update delivery set state = 'cancelled'
    where ${open('block_day')} and id in (${sql.join(ids)}) and (
      exists (select 1 from stream where stream.id = delivery.stream_id and deleted_at is not null)
      or (phase = 'removed' and exists (
        select 1 from match as own join match as newer
          on newer.chain = own.chain and newer.block_hash = own.block_hash
          and newer.stream_id = own.stream_id and newer.part = own.part and newer.id > own.id
        where ${open('own.block_day')} and ${open('newer.block_day')} and own.id = delivery.match_id and newer.origin like 'live:%')))
    returning id`.execute(trx);
  return rows.map((row) => row.id);
}

/** Sets the time of the next probe; false when another claimer was first. */
async function takeProbe(trx: Db, streamId: string, now: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('stream')
    .set({ probe_at: now + PROBE_EVERY_MS })
    .where('id', '=', streamId)
    .where('probe_at', '<=', now)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
