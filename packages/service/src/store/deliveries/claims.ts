/** Claims deliveries under leases, fairly across streams and within each stream's own limits. */
import { type Kysely, sql } from 'kysely';
import { type Engine, type Moment, readMoment } from '../engine/engine.ts';
import type { Db, Tables } from '../tables/tables.ts';
import type { ClaimLimits, ClaimWrites, ClaimedDelivery } from './contract.ts';
import {
  LANES_AT_ONCE,
  type Lane,
  type OpenLane,
  findDueLanes,
  findDue,
  lockLanes,
} from './lanes.ts';
import { type DeliveryTurn, leaseDeliveries } from './leasing.ts';
import { takeProbe } from './probes.ts';
import { mixRetries, toRetryCapacity } from './retryShare.ts';
import { type LaneTurns, isLimited, takeTurns, planTurns } from './turns.ts';

/** Turns of a lane whose stream sets no limits. */
const FREE: LaneTurns = { room: Number.POSITIVE_INFINITY, firstAt: 0, intervalMs: 0 };

export function createClaims(db: Kysely<Tables>, engine: Engine): ClaimWrites {
  return {
    async claimDeliveries({ slow, leaseMs, ...limits }) {
      return db.transaction().execute(async (trx): Promise<ClaimedDelivery[]> => {
        const moment = await readMoment(engine, trx);
        const { now, open } = moment;
        const lanes = await findDueLanes(trx, open, now);
        const quick = lanes.filter(({ id }) => slow === undefined || slow.quick.has(id));
        const due = await takeDue(trx, engine, moment, quick, limits, LANES_AT_ONCE);
        if (slow !== undefined) {
          const others = lanes.filter(({ id }) => !slow.quick.has(id));
          due.push(...(await takeDue(trx, engine, moment, others, slow)));
        }
        return leaseDeliveries(trx, engine, due, open, now, leaseMs);
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
          order by run_at limit 1 ${engine.lockRows('update', { of: 'delivery', skipLocked: true })}`.execute(
          trx,
        );
        if (rows[0] === undefined) return undefined;
        await sql`
          update stream set next_send_at = ${now} + ceil(1000 / max_per_second)
          where max_per_second is not null
            and id = (
            select stream_id from delivery where ${open('block_day')} and id = ${rows[0].id})`.execute(
          trx,
        );
        return (
          await leaseDeliveries(
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
  { limit, maxBytes, perStream, taken, bytes, retries }: ClaimLimits,
  spread = Number.POSITIVE_INFINITY,
): Promise<DeliveryTurn[]> {
  const takenOf = new Map(Object.entries(taken));
  const retriesOf = new Map(Object.entries(retries?.taken ?? {}));
  const bytesOf = new Map(Object.entries(bytes?.taken ?? {}));
  const bytesPerStream = bytes?.perStream ?? Number.POSITIVE_INFINITY;
  const due: DeliveryTurn[] = [];
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
      const turns = isLimited(lane) ? planTurns(lane, { leased, nextSendAt }, now) : FREE;
      const room = Math.min(most, share, turns?.room ?? 0);
      if (turns === undefined || room <= 0) return [];
      if ((bytesOf.get(lane.id) ?? 0) >= bytesPerStream) return [];
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
      const rows = mixRetries(found.get(lane.id) ?? [], {
        room: Math.min(room, limit - due.length),
        retryRoom: Math.min(retryRoom, retriesLeft),
      });
      if (rows.length === 0 || left.all <= 0) continue;
      if (lane.status === 'error' && !(await takeProbe(trx, lane.id, now))) continue;
      const fitting: string[] = [];
      let ownBytes = bytesOf.get(lane.id) ?? 0;
      for (const row of rows) {
        const isFirst = due.length + fitting.length === 0;
        if (!isFirst && row.body_bytes > left.all) break;
        if (ownBytes > 0 && ownBytes + row.body_bytes > bytesPerStream) break;
        if (row.attempts > 0) {
          if (!isFirst && row.body_bytes > left.retries) continue;
          retriesLeft--;
          left.retries -= row.body_bytes;
        }
        fitting.push(row.id);
        ownBytes += row.body_bytes;
        left.all -= row.body_bytes;
      }
      const waits = await takeTurns(trx, lane, turns, fitting.length, now);
      due.push(...fitting.map((id, each) => ({ id, waitMs: waits[each]! })));
    }
  }
  return due;
}
