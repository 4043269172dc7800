/** Claims deliveries under leases, fairly across streams and within each stream's own limits. */
import { randomUUID } from 'node:crypto';
import type { WebhookOrigin } from '@sluice/kit/contract';
import { type Kysely, sql } from 'kysely';
import type { SealedSecret } from '../access/contract.ts';
import { joinBody } from '../blocks/body.ts';
import { type Engine, type Moment, readMoment } from '../engine/engine.ts';
import { packTexts } from '../engine/packedTexts.ts';
import type { DayFilter } from '../engine/partitions.ts';
import type { Db, Tables } from '../engine/tables.ts';
import { readOAuth2 } from '../rows.ts';
import { PROBE_EVERY_MS } from '../streams/healthWrites.ts';
import type { ClaimLimits, ClaimedDelivery, DeliveryWrites } from './contract.ts';
import {
  type Lane,
  type LaneTurns,
  isLimited,
  takeTurns,
  toTurns,
  LANES_AT_ONCE,
  type OpenLane,
  dueLanes,
  findDue,
  lockLanes,
  mixKinds,
  toRetryCapacity,
} from './lanes.ts';

/** Turns of a lane whose stream sets no limits. */
const FREE: LaneTurns = { room: Number.POSITIVE_INFINITY, firstAt: 0, intervalMs: 0 };

/** A delivery to claim, and the milliseconds until its turn. */
interface Turn {
  id: string;
  waitMs: number;
}

type LeasedRow = Pick<
  Tables['delivery'],
  | 'id'
  | 'match_id'
  | 'stream_id'
  | 'phase'
  | 'attempts'
  | 'fast_retried'
  | 'records'
  | 'body_bytes'
  | 'replay_id'
>;

type Claims = Pick<DeliveryWrites, 'claimDeliveries' | 'claimSuspect'>;

export function createClaims(db: Kysely<Tables>, engine: Engine): Claims {
  return {
    async claimDeliveries({ slow, leaseMs, ...limits }) {
      return db.transaction().execute(async (trx): Promise<ClaimedDelivery[]> => {
        const moment = await readMoment(engine, trx);
        const { now, open } = moment;
        const lanes = await dueLanes(trx, open, now);
        const quick = lanes.filter(({ id }) => slow === undefined || slow.quick.has(id));
        const due = await takeDue(trx, engine, moment, quick, limits, LANES_AT_ONCE);
        if (slow !== undefined) {
          const others = lanes.filter(({ id }) => !slow.quick.has(id));
          due.push(...(await takeDue(trx, engine, moment, others, slow)));
        }
        return lease(trx, engine, due, open, now, leaseMs);
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
                  and other.ordered = 1
                  and other.state in ('enriching', 'held', 'pending', 'leased'))))
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
            engine,
            rows.map(({ id }) => ({ id, waitMs: 0 })),
            open,
            now,
            leaseMs,
          )
        )[0];
      });
    },
  };
}

/**
 * Takes due deliveries of these lanes within the limits.
 *
 * @param spread maximum number of lanes among which `limit` is divided equally. Default: all
 */
async function takeDue(
  trx: Db,
  engine: Engine,
  { now, open }: Moment,
  dueLanes: readonly Lane[],
  { limit, maxBytes, perStream, taken, maxBytesPerStream = maxBytes, retries }: ClaimLimits,
  spread = Number.POSITIVE_INFINITY,
): Promise<Turn[]> {
  const takenOf = new Map(Object.entries(taken));
  const retriesOf = new Map(Object.entries(retries?.taken ?? {}));
  const due: Turn[] = [];
  const left = { all: maxBytes, retries: retries?.maxBytes ?? maxBytes };
  let retriesLeft = retries?.limit ?? limit;
  const mayRetry = (): boolean => retriesLeft > 0 && left.retries > 0;
  // Starts with the lanes that have the fewest deliveries in flight, so that a busy lane never
  // delays other lanes. Lanes with equally many take turns at random.
  const lanes = dueLanes
    .map((lane) => ({ ...lane, inFlight: takenOf.get(lane.id) ?? 0, turn: Math.random() }))
    .filter((lane) => lane.inFlight < perStream || lane.status === 'error')
    .filter((lane) => lane.has_first === 1 || mayRetry())
    .toSorted((a, b) => a.inFlight - b.inFlight || a.turn - b.turn);
  // Limit per lane, so that a claim takes a few deliveries of many streams, not many deliveries of
  // a few streams.
  const share = Math.ceil(limit / Math.min(lanes.length, spread));
  for (let n = 0; n < lanes.length && due.length < limit && left.all > 0; n += LANES_AT_ONCE) {
    const next = lanes
      .slice(n, n + LANES_AT_ONCE)
      .filter((lane) => lane.has_first === 1 || mayRetry());
    const held = await lockLanes(trx, engine, next, open);
    const roomy = held.flatMap(({ lane, leased, leasedRetries, nextSendAt }): OpenLane[] => {
      // Counts the deliveries in flight in all processes, including those to failing receivers.
      const busy = Math.max(leased, takenOf.get(lane.id) ?? 0);
      const most = lane.status === 'error' ? 1 : perStream - busy;
      const turns = isLimited(lane) ? toTurns(lane, { leased, nextSendAt }, now) : FREE;
      const room = Math.min(most, share, turns?.room ?? 0);
      if (turns === undefined || room <= 0) return [];
      const capacity = toRetryCapacity(Math.min(perStream, lane.max_in_flight ?? perStream));
      const retryRoom = Math.min(
        room,
        capacity - Math.max(leasedRetries, retriesOf.get(lane.id) ?? 0),
        mayRetry() ? retriesLeft : 0,
      );
      return [{ lane, room, retryRoom: Math.max(0, retryRoom), turns }];
    });
    const found = await findDue(trx, engine, roomy, { now, open });
    for (const { lane, room, retryRoom, turns } of roomy) {
      const rows = mixKinds(found.get(lane.id) ?? [], {
        room: Math.min(room, limit - due.length),
        retryRoom: Math.min(retryRoom, retriesLeft),
      });
      if (rows.length === 0 || left.all <= 0) continue;
      if (lane.status === 'error' && !(await takeProbe(trx, lane.id, now))) continue;
      const fitting: string[] = [];
      let laneBytes = 0;
      for (const row of rows) {
        const isFirst = due.length + fitting.length === 0;
        if (!isFirst && row.body_bytes > left.all) break;
        if (fitting.length > 0 && laneBytes + row.body_bytes > maxBytesPerStream) break;
        if (row.attempts > 0) {
          if (!isFirst && row.body_bytes > left.retries) continue;
          retriesLeft--;
          left.retries -= row.body_bytes;
        }
        fitting.push(row.id);
        laneBytes += row.body_bytes;
        left.all -= row.body_bytes;
      }
      const waits = await takeTurns(trx, lane, turns, fitting.length, now);
      due.push(...fitting.map((id, each) => ({ id, waitMs: waits[each]! })));
    }
  }
  return due;
}

async function lease(
  trx: Db,
  engine: Engine,
  due: readonly Turn[],
  open: DayFilter,
  now: number,
  leaseMs: number,
): Promise<ClaimedDelivery[]> {
  if (due.length === 0) return [];
  const leaseToken = randomUUID();
  const listed = (each: readonly { id: string }[]) =>
    engine.texts(
      each.map(({ id }) => id),
      'id',
    );
  const waitOf = new Map(due.map(({ id, waitMs }) => [id, waitMs]));
  // Skips deliveries that are no longer pending, because they were canceled in the meantime.
  const { rows } = await sql<LeasedRow>`
    update delivery set state = 'leased', claims = claims + 1,
      lease_token = ${leaseToken}, lease_until = ${now + leaseMs}
    where ${open('block_day')} and id in (select id from ${listed(due)} as due)
      and ${engine.opaque('state')} = 'pending'
    returning id, match_id, stream_id, phase, attempts, fast_retried, records, body_bytes,
      replay_id`.execute(trx);
  if (rows.length === 0) return [];
  const matches = await trx
    .selectFrom('match')
    .select(['id', 'state', 'body_head', 'body_tail', 'part', 'parts', 'origin', 'unverified'])
    .where(open('block_day'))
    .where(
      sql<boolean>`id in (select id from ${listed(rows.map((row) => ({ id: row.match_id })))} as asked)`,
    )
    .execute();
  const streams = await trx
    .selectFrom('stream')
    .select(['id', 'webhook_url', 'headers', 'oauth2', 'secrets', 'status'])
    .where('id', 'in', [...new Set(rows.map((row) => row.stream_id))])
    .execute();
  const matchOf = new Map(matches.map((match) => [match.id, match]));
  // The deliveries of a stream share one object, which is copied only once between threads.
  const endpointOf = new Map(
    streams.map((stream) => [
      stream.id,
      {
        streamId: stream.id,
        webhookUrl: stream.webhook_url,
        headers: JSON.parse(stream.headers) as Record<string, string>,
        oauth2: readOAuth2(stream.oauth2),
        secrets: JSON.parse(stream.secrets) as SealedSecret[],
        isProbe: stream.status === 'error',
      },
    ]),
  );
  const obsolete = new Set(
    rows
      .filter((row) => row.phase !== 'removed' && row.replay_id === null)
      .filter((row) => matchOf.get(row.match_id)?.state === 'orphaned')
      .map(({ id }) => id),
  );
  await cancelObsolete(trx, [...obsolete], open, now);
  const found = rows.flatMap((row) => {
    const match = matchOf.get(row.match_id);
    const endpoint = endpointOf.get(row.stream_id);
    if (match === undefined || endpoint === undefined || obsolete.has(row.id)) return [];
    return [{ row, match, endpoint }];
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
    origin: row.replay_id === null ? originOf(match.origin) : 'replay',
    unverified: match.unverified,
    ...endpoint,
    waitMs: waitOf.get(row.id) ?? 0,
  }));
}

/**
 * Cancels deliveries whose blocks left the chain. On PostgreSQL, a reorg does not find a delivery
 * that is returned to the queue by a transaction that commits at the same time.
 */
async function cancelObsolete(
  trx: Db,
  ids: readonly string[],
  open: DayFilter,
  now: number,
): Promise<void> {
  if (ids.length === 0) return;
  await trx
    .updateTable('delivery')
    .set({ state: 'cancelled', lease_token: null, lease_until: null, updated_at: now })
    .where(open('block_day'))
    .where('id', 'in', ids)
    .execute();
}

/** Returns the origin of a match as receivers see it. */
const originOf = (origin: string): WebhookOrigin =>
  origin.startsWith('live:') ? 'live' : origin.startsWith('job:') ? 'backfill' : 'replay';

/** Sets the time of the next probe; returns false if another process was first. */
async function takeProbe(trx: Db, streamId: string, now: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('stream')
    .set({ probe_at: now + PROBE_EVERY_MS })
    .where('id', '=', streamId)
    .where('probe_at', '<=', now)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
