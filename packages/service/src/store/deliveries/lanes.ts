/**
 * Finds due deliveries in the lanes (queues) of streams. Several processes can claim at once from a shared ledger: each process locks the rows of the streams that
 * it claims from, and skips locked rows.
 */
import { type SqlBool, sql } from 'kysely';
import type { Db } from '../tables/tables.ts';
import type { Engine, Moment } from '../engine/engine.ts';
import type { DayFilter } from '../engine/days.ts';
import { type LaneTurns, type LimitedLane, TURNS_AHEAD_MS, isLimited } from './turns.ts';

/**
 * A lane with due deliveries. `has_first` and `has_retries` are 1 if first attempts or retries are
 * due.
 */
export type Lane = LimitedLane & {
  status: 'active' | 'error';
  has_first: number;
  has_retries: number;
};

/** A lane with capacity for more deliveries. */
export interface OpenLane {
  lane: Lane;
  room: number;
  /** Part of `room` that retries may use. */
  retryRoom: number;
  turns: LaneTurns;
}

export interface DueDelivery {
  id: string;
  stream_id: string;
  attempts: number;
  body_bytes: number;
}

/**
 * Maximum number of lanes that a process locks at a time, so that other processes can claim from
 * the rest.
 */
export const LANES_AT_ONCE = 64;

/**
 * Starts a statement with the table `lane`: the streams that have a delivery in this state,
 * followed by a null row. Takes one index seek per stream.
 */
export const lanesIn = (state: 'pending' | 'held' | 'enriching', open: DayFilter) => sql`
  with recursive lane(id) as (
    select min(stream_id) from delivery where ${open('block_day')} and state = ${sql.lit(state)}
    union all
    select (select min(stream_id) from delivery
      where ${open('block_day')} and state = ${sql.lit(state)} and stream_id > lane.id)
    from lane where lane.id is not null)`;

/** The two kinds of deliveries in a lane, as values of {@link isRetry}. */
const FIRST_ATTEMPTS = 0;
const RETRIES = 1;

/**
 * 1 if a delivery was attempted before; otherwise 0. The index of pending deliveries contains
 * exactly this expression, so a query for one kind reads only that kind.
 */
export const isRetry = sql<number>`case when attempts = 0 then 0 else 1 end`;

/**
 * Returns the lanes with a due delivery whose stream is active, or is in `error` and due for a
 * probe. Omits lanes whose next turn is more than `TURNS_AHEAD_MS` away. Takes two index seeks per
 * stream with pending deliveries, so the cost does not grow with the length of the queues.
 */
export async function findDueLanes(trx: Db, open: DayFilter, now: number): Promise<Lane[]> {
  const has = (kind: number) => sql<number>`case when exists (
    select 1 from delivery
    where ${open('block_day')} and stream_id = lane.id and state = 'pending'
      and ${isRetry} = ${sql.lit(kind)} and run_at <= ${now}) then 1 else 0 end`;
  const { rows } = await sql<Lane>`
    ${lanesIn('pending', open)}, due as materialized (
    select lane.id, stream.status, stream.max_in_flight, stream.max_per_second,
      stream.strict_order, ${has(FIRST_ATTEMPTS)} as has_first, ${has(RETRIES)} as has_retries
    from lane join stream on stream.id = lane.id
    where stream.deleted_at is null
      and (stream.next_send_at is null or stream.next_send_at <= ${now + TURNS_AHEAD_MS})
      and (stream.status = 'active' or (stream.status = 'error' and stream.probe_at <= ${now})))
    select * from due where has_first = 1 or has_retries = 1`.execute(trx);
  return rows;
}

/**
 * Locks lanes until the transaction ends; omits those that another process has locked. If the ledger
 * is not shared, the leased deliveries are counted only for lanes with limits.
 */
export async function lockLanes(
  trx: Db,
  engine: Engine,
  lanes: readonly Lane[],
  open: DayFilter,
): Promise<(LockedLane & { lane: Lane })[]> {
  const wanted = lanes.filter((lane) => engine.isShared || isLimited(lane)).map(({ id }) => id);
  if (wanted.length === 0) {
    return lanes.map((lane) => ({ lane, leased: 0, leasedRetries: 0, nextSendAt: null }));
  }
  const { rows: locked } = await sql<{ id: string; next_send_at: number | null }>`
    select id, next_send_at from stream where id in (${sql.join(wanted)})
    ${engine.lockRows('update', { skipLocked: true })}`.execute(trx);
  // A statement sees only what was committed before it started, so the leased deliveries are
  // counted in a separate statement, after the lanes are locked.
  const { rows: counted } = await sql<{ stream_id: string; n: number; retries: number }>`
    select stream_id, count(*) as n, count(*) filter (where attempts > 0) as retries from delivery
    where ${open('block_day')} and state = 'leased' and stream_id in (${sql.join(wanted)})
    group by stream_id`.execute(trx);
  const nextSendAt = new Map(locked.map((row) => [row.id, row.next_send_at]));
  const leased = new Map(counted.map((row) => [row.stream_id, row]));
  return lanes
    .filter(({ id }) => !wanted.includes(id) || nextSendAt.has(id))
    .map((lane) => ({
      lane,
      leased: leased.get(lane.id)?.n ?? 0,
      leasedRetries: leased.get(lane.id)?.retries ?? 0,
      nextSendAt: nextSendAt.get(lane.id) ?? null,
    }));
}

/**
 * Returns due deliveries by lane, first attempts before retries. A lane in strict order gets at
 * most one delivery. Any other lane may get more deliveries of each kind than it can take: up to
 * the largest capacity of all lanes.
 */
export async function findDue(
  trx: Db,
  engine: Engine,
  lanes: readonly OpenLane[],
  { now, open }: Moment,
): Promise<Map<string, DueDelivery[]>> {
  const found: DueDelivery[] = [];
  const unordered: OpenLane[] = [];
  for (const each of lanes) {
    const first =
      each.lane.strict_order === 1 ? await findFirst(trx, each.lane, now, open) : undefined;
    // The lane is not in strict order, or none of its unfinished deliveries has `ordered` set.
    if (first === undefined) unordered.push(each);
    else if (first.may_go === 1) found.push(first);
  }
  const findKind = async (kind: number, rooms: [id: string, room: number][]): Promise<void> => {
    if (rooms.length === 0) return;
    const ids = engine.texts(
      rooms.map(([id]) => id),
      'lane_id',
    );
    const isDue = sql<SqlBool>`${open('block_day')} and stream_id = lane_id and state = 'pending'
      and ${isRetry} = ${sql.lit(kind)} and run_at <= ${now} and lost < 2`;
    const { rows } = await engine
      .firstOfEach<DueDelivery>(ids, {
        from: 'delivery',
        columns: ['id', 'stream_id', 'attempts', 'body_bytes'],
        where: isDue,
        orderBy: 'run_at',
        limit: Math.max(...rooms.map(([, room]) => room)),
      })
      .execute(trx);
    found.push(...rows);
  };
  await findKind(
    FIRST_ATTEMPTS,
    unordered.flatMap(({ lane, room }) => (lane.has_first === 1 ? [[lane.id, room]] : [])),
  );
  await findKind(
    RETRIES,
    unordered.flatMap(({ lane, retryRoom }) =>
      lane.has_retries === 1 && retryRoom > 0 ? [[lane.id, retryRoom]] : [],
    ),
  );
  return Map.groupBy(found, (row) => row.stream_id);
}

/**
 * Returns the first unfinished delivery of a lane that has `ordered` set, and whether it can be
 * sent; undefined if there is none.
 */
async function findFirst(
  trx: Db,
  lane: Lane,
  now: number,
  open: DayFilter,
): Promise<(DueDelivery & { may_go: number }) | undefined> {
  const { rows } = await sql<DueDelivery & { may_go: number }>`
    select id, stream_id, attempts, body_bytes,
      case when state = 'pending' and run_at <= ${now} and lost < 2 then 1 else 0 end as may_go
    from delivery where ${open('block_day')} and stream_id = ${lane.id} and ordered = 1
      and state in ('enriching', 'held', 'pending', 'leased')
    order by id limit 1`.execute(trx);
  return rows[0];
}

export interface LockedLane {
  /** Number of leased deliveries of the lane in all processes, and of retries among them. */
  leased: number;
  leasedRetries: number;
  nextSendAt: number | null;
}
