import { type Kysely, type SqlBool, sql } from 'kysely';
import type { Db, Tables } from './tables.ts';
import { type Engine, readNow } from './engine.ts';
import { firstIdAt } from '../ids.ts';
import { PARTITIONED, openDay, toDay } from './partitions.ts';
import type { RetentionWrites } from '../upkeep/contract.ts';

const DAY_MS = 86_400_000;
/** Days for which partitions are made before their first block: today and the two that follow. */
const DAYS_AHEAD = 2;
/**
 * With so few rows left that must stay, a partition is emptied and they are put back, while whoever
 * reads in it waits: some thirty files are made anew, each written to the disk.
 */
const FEW_ROWS = 500;
/** How long statements may have to wait behind a partition that is about to go, for each of its tables. */
const LOCK_TIMEOUT = '50ms';

/** PostgreSQL's code for a lock that was not had in time. */
const LOCK_NOT_AVAILABLE = '55P03';

interface Ages {
  /** Ids of what was made when delivered ones, and others, are just old enough to be forgotten. */
  delivered: string;
  undelivered: string;
}

/** Looks after partitions: made ahead, closed when nothing waits in them, dropped when all is old. */
export function createPartitionWrites(
  db: Kysely<Tables>,
  engine: Engine,
): Pick<RetentionWrites, 'tendPartitions'> {
  return {
    async tendPartitions({ deliveredMs, undeliveredMs }) {
      const dropped: string[] = [];
      const shrunk: string[] = [];
      if (engine.name === 'sqlite') return { dropped, shrunk };
      const now = await readNow(engine, db);
      const today = toDay(now);
      for (let n = 0; n <= DAYS_AHEAD; n++) {
        await db.transaction().execute((trx) => openDay(trx, toDay(now + n * DAY_MS)));
      }
      const ages = {
        delivered: firstIdAt(now - deliveredMs),
        undelivered: firstIdAt(now - undeliveredMs),
      };
      const partitions = await db.selectFrom('partition').selectAll().orderBy('name').execute();
      for (const { name, to_day: end } of partitions) {
        const isOpen = await noticeWaiting(db, name);
        // Claims look into those that are open, and would wait.
        if (isOpen || end > today || !(await isAllOld(db, name, ages))) continue;
        if (await giveUp(db, (trx) => drop(trx, name, ages))) dropped.push(name);
        else if (await giveUp(db, (trx) => shrink(trx, name, ages))) shrunk.push(name);
      }
      return { dropped, shrunk };
    },
  };
}

/** In a transaction that changes nothing when a lock is not had in time: there is a next sweep. */
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

/** Rows for which a partition is open. */
const waits = (name: string) => sql<SqlBool>`
  exists (select 1 from ${partOf('delivery', name)} where state = 'pending')
  or exists (select 1 from ${partOf('delivery', name)} where state = 'leased')
  or exists (select 1 from ${partOf('delivery', name)} where state = 'enriching')
  or exists (select 1 from ${partOf('match', name)} where state = 'frozen')`;

/** Sets whether the partition is open by what is in it; answers with that. */
async function noticeWaiting(db: Kysely<Tables>, name: string): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    // Whoever opened it holds it until its rows are committed, and those show in the next statement.
    await sql`select from partition where name = ${name} for update`.execute(trx);
    const { open } = await trx
      .updateTable('partition')
      .set({ open: waits(name) as never })
      .where('name', '=', name)
      .returning('open')
      .executeTakeFirstOrThrow();
    return open;
  });
}

/** Whether everything in it was made so long ago that it would be forgotten if it was delivered. */
async function isAllOld(db: Db, name: string, ages: Ages): Promise<boolean> {
  const { rows } = await sql<{ young: boolean }>`
    select exists (select 1 from ${partOf('delivery', name)} where id >= ${ages.delivered})
      or exists (select 1 from ${partOf('match', name)} where id >= ${ages.delivered})
      as young`.execute(db);
  return rows[0]?.young === false;
}

/**
 * Deliveries that stay although all around them is old: they wait, or failed not so long ago. Each
 * state apart, since each has an index of its own rows.
 */
const survivors = (name: string, ages: Ages) =>
  sql.join(
    [
      sql`state = 'pending'`,
      sql`state = 'leased'`,
      sql`state = 'enriching'`,
      sql`last_error is not null and state in ('failed', 'quarantined')
        and id >= ${ages.undelivered}`,
    ].map((which) => sql`select * from ${partOf('delivery', name)} where ${which}`),
    sql` union all `,
  );

/** Drops the partition unless anything in it must stay. */
async function drop(trx: Db, name: string, ages: Ages): Promise<boolean> {
  await sql`select from partition where name = ${name} for update`.execute(trx);
  const { rows } = await sql<{ stays: boolean }>`
    select exists (${survivors(name, ages)}) or ${waits(name)} as stays`.execute(trx);
  if (rows[0]?.stays !== false || !(await isAllOld(trx, name, ages))) return false;
  for (const table of PARTITIONED) await sql`drop table ${partOf(table, name)}`.execute(trx);
  await trx.deleteFrom('partition').where('name', '=', name).execute();
  return true;
}

/** Empties the partition but for the rows that must stay, where those are few. */
async function shrink(trx: Db, name: string, ages: Ages): Promise<boolean> {
  const { rows: counted } = await sql<{ n: number }>`
    select count(*) as n from (
      (select id from (${survivors(name, ages)}) as survivor)
      union all (select id from ${partOf('match', name)} where state = 'frozen')
      limit ${FEW_ROWS + 1}) as few`.execute(trx);
  if (counted[0]!.n > FEW_ROWS) return false;
  const { rows: more } = await sql`
    select 1 from ${partOf('delivery', name)} limit 1 offset ${counted[0]!.n}`.execute(trx);
  if (more.length === 0) return false;
  // By their keys: it would take so many for too many, and read all that is to go.
  for (const plan of ['seqscan', 'hashjoin', 'mergejoin']) {
    await sql`set local ${sql.raw(`enable_${plan}`)} = off`.execute(trx);
  }
  for (const table of PARTITIONED) {
    await sql`lock table ${partOf(table, name)} in access exclusive mode`.execute(trx);
  }
  if (!(await isAllOld(trx, name, ages))) return false;
  const keep = async (table: (typeof PARTITIONED)[number], rows: ReturnType<typeof sql>) =>
    sql`create temporary table ${sql.id(`kept_${table}`)} on commit drop as ${rows}`.execute(trx);
  const from = (table: (typeof PARTITIONED)[number]) => sql`select * from ${partOf(table, name)}`;
  await keep('delivery', survivors(name, ages));
  await keep(
    'attempt',
    sql`${from('attempt')} where delivery_id in (select id from kept_delivery)`,
  );
  await keep(
    'match',
    sql`${from('match')} where state = 'frozen' or id in (select match_id from kept_delivery)`,
  );
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
