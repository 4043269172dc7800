/**
 * Manages the queues of streams and claims from them. On PostgreSQL, several processes claim at
 * once: each one locks the rows of the streams that it claims from, and skips locked rows.
 */
import { type SqlBool, sql } from 'kysely';
import type { Db, Tables } from '../engine/tables.ts';
import type { Engine, Moment } from '../engine/engine.ts';
import type { DayFilter } from '../engine/partitions.ts';

export type Lane = LimitedLane & { status: 'active' | 'error' };

/** A lane with capacity for more deliveries. */
export interface OpenLane {
  lane: Lane;
  room: number;
  turns: LaneTurns;
}

/** Number of lanes that a process locks at a time, so that others find some to claim from. */
export const LANES_AT_ONCE = 64;

/**
 * Starts a statement with `lane`, the streams with a delivery in this state, found by one index
 * seek per stream, and a final null row.
 */
export const lanesIn = (state: 'pending' | 'enriching', open: DayFilter) => sql`
  with recursive lane(id) as (
    select min(stream_id) from delivery where ${open('block_day')} and state = ${sql.lit(state)}
    union all
    select (select min(stream_id) from delivery
      where ${open('block_day')} and state = ${sql.lit(state)} and stream_id > lane.id)
    from lane where lane.id is not null)`;

/**
 * Selects streams with a due delivery that are active, or in error and due for a probe. Takes one
 * index seek per stream with pending deliveries, so the cost does not grow with the queues.
 */
export async function dueLanes(trx: Db, open: DayFilter, now: number): Promise<Lane[]> {
  const { rows } = await sql<Lane>`
    ${lanesIn('pending', open)}
    select lane.id, stream.status, stream.max_in_flight, stream.max_per_second, stream.strict_order
    from lane join stream on stream.id = lane.id
    where stream.deleted_at is null
      and (stream.next_send_at is null or stream.next_send_at <= ${now + TURNS_AHEAD_MS})
      and (stream.status = 'active' or (stream.status = 'error' and stream.probe_at <= ${now}))
      and exists (
      select 1 from delivery
      where ${open('block_day')} and stream_id = lane.id and state = 'pending'
        and run_at <= ${now})`.execute(trx);
  return rows;
}

/**
 * Returns the lanes that no other claimer has locked; they stay locked until the transaction ends.
 */
export async function lockLanes(
  trx: Db,
  engine: Engine,
  lanes: readonly Lane[],
  open: DayFilter,
): Promise<(LockedLane & { lane: Lane })[]> {
  const isShared = engine.name === 'postgres';
  const wanted = lanes.filter((lane) => isShared || isLimited(lane)).map(({ id }) => id);
  if (wanted.length === 0) return lanes.map((lane) => ({ lane, leased: 0, nextSendAt: null }));
  const { rows: locked } = await sql<{ id: string; next_send_at: number | null }>`
    select id, next_send_at from stream where id in (${sql.join(wanted)})
    ${engine.skipLocked}`.execute(trx);
  // A separate statement, because a statement sees only data that was committed before its start,
  // and the lock must be held first.
  const { rows: counted } = await sql<{ stream_id: string; n: number }>`
    select stream_id, count(*) as n from delivery
    where ${open('block_day')} and state = 'leased' and stream_id in (${sql.join(wanted)})
    group by stream_id`.execute(trx);
  const nextSendAt = new Map(locked.map((row) => [row.id, row.next_send_at]));
  const leased = new Map(counted.map((row) => [row.stream_id, row.n]));
  return lanes
    .filter(({ id }) => !wanted.includes(id) || nextSendAt.has(id))
    .map((lane) => ({
      lane,
      leased: leased.get(lane.id) ?? 0,
      nextSendAt: nextSendAt.get(lane.id) ?? null,
    }));
}

/** Returns due deliveries by lane, limited to the largest capacity of any lane. */
export async function findDue(
  trx: Db,
  engine: Engine,
  lanes: readonly OpenLane[],
  { now, open }: Moment,
): Promise<Map<string, { id: string; body_bytes: number }[]>> {
  type Due = { id: string; stream_id: string; body_bytes: number };
  const found: Due[] = [];
  const unordered: OpenLane[] = [];
  for (const each of lanes) {
    const first =
      each.lane.strict_order === 1 ? await findFirst(trx, each.lane, now, open) : undefined;
    // Returns the first delivery; undefined if strict order was set after the deliveries were
    // created.
    if (first === undefined) unordered.push(each);
    else if (first.may_go === 1) found.push(first);
  }
  if (unordered.length > 0) {
    const ids = engine.texts(
      unordered.map(({ lane }) => lane.id),
      'lane_id',
    );
    const isDue = sql<SqlBool>`${open('block_day')} and stream_id = lane_id and state = 'pending'
      and run_at <= ${now} and lost < 2`;
    const { rows } = await engine
      .firstOfEach<Due>(ids, {
        from: 'delivery',
        columns: ['id', 'stream_id', 'body_bytes'],
        where: isDue,
        orderBy: 'run_at',
        limit: Math.max(...unordered.map(({ room }) => room)),
      })
      .execute(trx);
    found.push(...rows);
  }
  return Map.groupBy(found, (row) => row.stream_id);
}

/** Returns the first delivery of a lane in strict order, and whether it may be sent now. */
async function findFirst(
  trx: Db,
  lane: Lane,
  now: number,
  open: DayFilter,
): Promise<{ id: string; stream_id: string; body_bytes: number; may_go: number } | undefined> {
  const { rows } = await sql<{ id: string; stream_id: string; body_bytes: number; may_go: number }>`
    select id, stream_id, body_bytes,
      case when state = 'pending' and run_at <= ${now} and lost < 2 then 1 else 0 end as may_go
    from delivery where ${open('block_day')} and stream_id = ${lane.id} and ordered = 1
      and state in ('enriching', 'pending', 'leased')
    order by id limit 1`.execute(trx);
  return rows[0];
}

export type LimitedLane = Pick<
  Tables['stream'],
  'id' | 'max_in_flight' | 'max_per_second' | 'strict_order'
>;

export interface LockedLane {
  /** Number of leased deliveries of the lane in all processes. */
  leased: number;
  nextSendAt: number | null;
}

export interface LaneTurns {
  room: number;
  /**
   * For streams with a limit per second: the time of the first turn, and the interval between
   * turns.
   */
  firstAt: number;
  intervalMs: number;
}

/** Time for which turns are assigned in advance, so that occasional claims are enough. */
const TURNS_AHEAD_MS = 250;

export const isLimited = (lane: LimitedLane): boolean =>
  lane.max_in_flight !== null || lane.max_per_second !== null || lane.strict_order === 1;

/** Returns the remaining capacity of a lane; undefined if there is none now. */
export function toTurns(lane: LimitedLane, held: LockedLane, now: number): LaneTurns | undefined {
  const atOnce = lane.strict_order === 1 ? 1 : (lane.max_in_flight ?? Number.POSITIVE_INFINITY);
  const intervalMs = lane.max_per_second === null ? 0 : 1000 / lane.max_per_second;
  const firstAt = intervalMs === 0 ? now : Math.max(now, held.nextSendAt ?? now);
  const turns =
    intervalMs === 0
      ? Number.POSITIVE_INFINITY
      : Math.floor((now + TURNS_AHEAD_MS - firstAt) / intervalMs) + 1;
  const room = Math.min(atOnce - held.leased, turns);
  return room > 0 ? { room, firstAt, intervalMs } : undefined;
}

/** Takes the first `count` turns; returns the milliseconds until each turn. */
export async function takeTurns(
  trx: Db,
  lane: LimitedLane,
  { firstAt, intervalMs }: LaneTurns,
  count: number,
  now: number,
): Promise<number[]> {
  if (intervalMs === 0 || count === 0) return Array.from({ length: count }, () => 0);
  await trx
    .updateTable('stream')
    .set({ next_send_at: Math.ceil(firstAt + count * intervalMs) })
    .where('id', '=', lane.id)
    .execute();
  return Array.from({ length: count }, (_, n) => firstAt - now + n * intervalMs);
}
