import { type Kysely, type SqlBool, sql } from 'kysely';
import type { Db, Tables } from '../../tables/tables.ts';
import { DAY_MS, toDay } from '../days.ts';
import type { DayWrites } from '../engine.ts';
import { firstIdAt } from '../../rows/ids.ts';
import { PARTITIONED, openDay } from './partitions.ts';
import type { PostgresTables } from './postgresTables.ts';
import { postgresNow } from './postgresClock.ts';

/** Number of days after today for which partitions are created in advance. */
const DAYS_AHEAD = 2;
/**
 * Maximum number of deliveries to keep when a partition is truncated. Readers of the partition wait
 * until these rows are inserted again.
 */
const FEW_ROWS = 500;
/**
 * Maximum wait for each table lock when a partition is dropped or truncated, because other
 * statements queue behind the lock.
 */
const LOCK_TIMEOUT = '50ms';

/** PostgreSQL's code for a lock timeout. */
const LOCK_NOT_AVAILABLE = '55P03';

/** Ids below which delivered and undelivered deliveries are old enough to be deleted. */
interface Ages {
  delivered: string;
  undelivered: string;
}

/**
 * Maintains partitions: creates them in advance, closes those without unfinished rows, and drops or
 * truncates old ones.
 */
export function createPartitionWrites(db: Kysely<Tables>): DayWrites {
  return {
    async tendDays({ deliveredMs, undeliveredMs }) {
      const dropped: string[] = [];
      const shrunk: string[] = [];
      const { rows } = await sql<{ now: number }>`select ${postgresNow} as now`.execute(db);
      const { now } = rows[0]!;
      const today = toDay(now);
      for (let n = 0; n <= DAYS_AHEAD; n++) {
        await db.transaction().execute((trx) => openDay(trx, toDay(now + n * DAY_MS)));
      }
      const ages = {
        delivered: firstIdAt(now - deliveredMs),
        undelivered: firstIdAt(now - undeliveredMs),
      };
      const partitions = await db
        .withTables<PostgresTables>()
        .selectFrom('partition')
        .selectAll()
        .orderBy('name')
        .execute();
      for (const { name, to_day: end } of partitions) {
        const isOpen = await findWaiting(db, name);
        // An open partition is not dropped, because claims read it and would have to wait.
        if (isOpen || end > today || !(await isAllOld(db, name, ages))) continue;
        if (await giveUp(db, (trx) => drop(trx, name, ages))) dropped.push(name);
        else if (await giveUp(db, (trx) => shrink(trx, name, ages))) shrunk.push(name);
      }
      // Rows that still exist a day after they expired are deleted one by one.
      return { dropped, shrunk, keptMs: DAY_MS };
    },
  };
}

/**
 * Runs `work` in a transaction, and returns its result. If a lock times out, rolls back and returns
 * false; the next sweep tries again.
 */
async function giveUp(db: Kysely<Tables>, work: (trx: Db) => Promise<boolean>): Promise<boolean> {
  try {
    return await db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT)}`.execute(trx);
      return work(trx);
    });
  } catch (error) {
    if ((error as { code?: unknown }).code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
}

const partOf = (table: (typeof PARTITIONED)[number], name: string) => sql.id(`${table}_${name}`);

/**
 * Returns the condition that a partition has rows that keep it open. Each state has its own query,
 * because it has its own index.
 */
const waits = (name: string) => sql<SqlBool>`
  exists (select 1 from ${partOf('delivery', name)} where state = 'pending')
  or exists (select 1 from ${partOf('delivery', name)} where state = 'leased')
  or exists (select 1 from ${partOf('delivery', name)} where state = 'enriching')
  or exists (select 1 from ${partOf('delivery', name)} where state = 'held')
  or exists (select 1 from ${partOf('match', name)} where state = 'frozen')`;

/** Updates whether the partition is open, and returns whether it is. */
async function findWaiting(db: Kysely<Tables>, name: string): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    // A process that opens the partition holds this lock until it commits its rows, so the next
    // statement sees those rows.
    await sql`select from partition where name = ${name} for update`.execute(trx);
    const { open } = await trx
      .withTables<PostgresTables>()
      .updateTable('partition')
      .set({ open: waits(name) as never })
      .where('name', '=', name)
      .returning('open')
      .executeTakeFirstOrThrow();
    return open;
  });
}

/**
 * Returns whether all deliveries and matches of the partition are past the retention of delivered
 * deliveries.
 */
async function isAllOld(db: Db, name: string, ages: Ages): Promise<boolean> {
  const { rows } = await sql<{ young: boolean }>`
    select exists (select 1 from ${partOf('delivery', name)} where id >= ${ages.delivered})
      or exists (select 1 from ${partOf('match', name)} where id >= ${ages.delivered})
      as young`.execute(db);
  return rows[0]?.young === false;
}

/**
 * Prevents others from opening the partition, and returns whether it has only old rows, none of
 * which keeps it open.
 */
async function lockOld(trx: Db, name: string, ages: Ages): Promise<boolean> {
  await sql`select from partition where name = ${name} for update`.execute(trx);
  const { rows } = await sql<{ open: boolean }>`select ${waits(name)} as open`.execute(trx);
  return rows[0]?.open === false && (await isAllOld(trx, name, ages));
}

/** Selects the recent failures, which are kept for longer than other deliveries. */
const recentFailures = (name: string, ages: Ages) => sql`
  select * from ${partOf('delivery', name)}
  where last_error is not null and state in ('failed', 'quarantined') and id >= ${ages.undelivered}`;

/** Drops the partition unless it has rows to keep. Returns whether it was dropped. */
async function drop(trx: Db, name: string, ages: Ages): Promise<boolean> {
  if (!(await lockOld(trx, name, ages))) return false;
  const { rows } = await sql`${recentFailures(name, ages)} limit 1`.execute(trx);
  if (rows.length > 0) return false;
  for (const table of PARTITIONED) await sql`drop table ${partOf(table, name)}`.execute(trx);
  await trx.withTables<PostgresTables>().deleteFrom('partition').where('name', '=', name).execute();
  return true;
}

/**
 * Truncates the partition and inserts the recent failures again, unless there are many of them or
 * no other rows to delete. Returns whether it was truncated.
 */
async function shrink(trx: Db, name: string, ages: Ages): Promise<boolean> {
  if (!(await lockOld(trx, name, ages))) return false;
  const { rows: counted } = await sql<{ n: number }>`
    select count(*) as n from (
      ${recentFailures(name, ages)} limit ${FEW_ROWS + 1}) as few`.execute(trx);
  if (counted[0]!.n > FEW_ROWS) return false;
  const { rows: more } = await sql`
    select 1 from ${partOf('delivery', name)} limit 1 offset ${counted[0]!.n}`.execute(trx);
  if (more.length === 0) return false;
  // Forces lookups by key. The planner would overestimate the number of kept rows and scan all rows
  // that are to be deleted.
  for (const plan of ['seqscan', 'hashjoin', 'mergejoin']) {
    await sql`set local ${sql.raw(`enable_${plan}`)} = off`.execute(trx);
  }
  for (const table of PARTITIONED) {
    await sql`lock table ${partOf(table, name)} in access exclusive mode`.execute(trx);
  }
  const keep = async (table: (typeof PARTITIONED)[number], rows: ReturnType<typeof sql>) =>
    sql`create temporary table ${sql.id(`kept_${table}`)} on commit drop as ${rows}`.execute(trx);
  const from = (table: (typeof PARTITIONED)[number]) => sql`select * from ${partOf(table, name)}`;
  await keep('delivery', recentFailures(name, ages));
  await keep(
    'attempt',
    sql`${from('attempt')} where delivery_id in (select id from kept_delivery)`,
  );
  await keep('match', sql`${from('match')} where id in (select match_id from kept_delivery)`);
  await keep(
    'match_transaction',
    sql`${from('match_transaction')} where match_id in (select id from kept_match)`,
  );
  for (const table of PARTITIONED) {
    await sql`truncate ${partOf(table, name)}`.execute(trx);
    await sql`
      insert into ${partOf(table, name)} select * from ${sql.id(`kept_${table}`)}`.execute(trx);
  }
  return true;
}
