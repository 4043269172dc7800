/**
 * On PostgreSQL, matches, deliveries and their dependent rows are partitioned by the UTC day of
 * their block. Old rows are dropped with their partition, and only open partitions are searched for
 * pending rows.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../../tables/tables.ts';
import type { PostgresTables } from './postgresTables.ts';
import { type DayFilter, type DayRange, DAY_MS, toDay } from '../days.ts';

/** Partitioned tables. Each has a column `block_day`. */
export const PARTITIONED = ['match', 'match_transaction', 'delivery', 'attempt'] as const;

/**
 * Age in days above which the days of a month share one partition, so that a backfill creates few
 * partitions.
 */
const DAYS_OF_THEIR_OWN = 35;

/**
 * A sent delivery is updated at least twice. Free space keeps the new versions of its row on the
 * same page, and frequent vacuuming removes old versions that claims would have to skip.
 */
const STORAGE = sql`with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000, autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 1)`;

/**
 * Returns a filter for these days. The days are passed as values, not as a subquery, so that
 * PostgreSQL excludes other partitions when it plans the query.
 */
export function toDayFilter(ranges: readonly DayRange[]): DayFilter {
  const merged: DayRange[] = [];
  for (const range of ranges.toSorted((a, b) => (a.fromDay < b.fromDay ? -1 : 1))) {
    const last = merged.at(-1);
    if (last?.toDay === range.fromDay) last.toDay = range.toDay;
    else merged.push({ ...range });
  }
  if (merged.length === 0) return () => sql<SqlBool>`false`;
  return (column) =>
    sql<SqlBool>`(${sql.join(
      merged.map(
        ({ fromDay, toDay: end }) =>
          sql`${sql.ref(column)} >= ${fromDay} and ${sql.ref(column)} < ${end}`,
      ),
      sql` or `,
    )})`;
}

/**
 * Expression for the days of open partitions: those that may have a frozen match, or a delivery
 * that has not ended.
 */
export const openDays = sql`(
  select coalesce(json_agg(json_build_object('fromDay', from_day, 'toDay', to_day)), '[]')
  from partition where open)`;

/**
 * Expression that is 1 if rows of this day can be written, and are included in searches for pending
 * rows; 0 otherwise. If 1, the partition cannot be closed or dropped until the transaction ends.
 */
export const isOpen = (day: string): RawBuilder<number> => sql<number>`(select count(*)::int from (
  select from partition where from_day <= ${day} and to_day > ${day} and open for share) as held)`;

/** Opens the partition of this day, so that {@link isOpen} is 1. */
export async function openDay(trx: Db, day: string): Promise<void> {
  const { rows } = await sql<{ is_open: number }>`select ${isOpen(day)} as is_open`.execute(trx);
  if (rows[0]!.is_open === 1) return;
  await sql`select pg_advisory_xact_lock(hashtextextended('partitions', 0))`.execute(trx);
  const reopened = await trx
    .withTables<PostgresTables>()
    .updateTable('partition')
    .set({ open: true })
    .where('from_day', '<=', day)
    .where('to_day', '>', day)
    .returning('name')
    .execute();
  if (reopened.length === 0) await createPartition(trx, day);
}

/**
 * Creates tables and attaches them, because creating a partition in place would wait for every
 * running statement and block later ones.
 */
async function createPartition(trx: Db, day: string): Promise<void> {
  const { fromDay, toDay: end } = await chooseRange(trx, day);
  const name = fromDay.replaceAll('-', '') + (end === nextDay(fromDay) ? '' : '_month');
  for (const table of PARTITIONED) {
    const part = sql.id(`${table}_${name}`);
    await sql`create table ${part} (like ${sql.id(table)}) ${STORAGE}`.execute(trx);
    await teachPlanner(trx, table, `${table}_${name}`, fromDay);
    await sql`
      alter table ${sql.id(table)} attach partition ${part}
      for values from (${sql.lit(fromDay)}) to (${sql.lit(end)})`.execute(trx);
  }
  await trx
    .withTables<PostgresTables>()
    .insertInto('partition')
    .values({ name, from_day: fromDay, to_day: end, open: true })
    .execute();
}

/** Columns whose values are nearly unique, although no index on the column alone shows this. */
const DISTINCT: Readonly<Record<(typeof PARTITIONED)[number], readonly string[]>> = {
  match: ['id'],
  match_transaction: ['match_id', 'transaction_hash'],
  delivery: ['id', 'match_id'],
  attempt: ['delivery_id'],
};

/**
 * Gives the planner the statistics that it would otherwise get from the first `ANALYZE`, by
 * inserting, analyzing and removing sample rows. Without statistics, the planner ignores the
 * indexes that claims need.
 */
async function teachPlanner(
  trx: Db,
  table: (typeof PARTITIONED)[number],
  name: string,
  day: string,
): Promise<void> {
  const part = sql.id(name);
  await sql`
    insert into ${part} select made.* from generate_series(1, 20) as n, jsonb_populate_record(
      null::${part}, (
        select jsonb_object_agg(attname, case when attname = 'block_day' then to_jsonb(${day}::text)
          when atttypid = 'text'::regtype then to_jsonb(n::text) else to_jsonb(0) end)
        from pg_attribute
        where attrelid = ${name}::regclass and attnum > 0 and not attisdropped)) as made`.execute(
    trx,
  );
  const columns = ['block_day', ...DISTINCT[table]].map((column) => sql.ref(column));
  await sql`analyze ${part} (${sql.join(columns)})`.execute(trx);
  await sql`truncate ${part}`.execute(trx);
}

/**
 * Returns the range of the day's partition: the day or, for an old day, its month, unless a day of
 * that month already has a partition.
 */
async function chooseRange(trx: Db, day: string): Promise<DayRange> {
  const alone = { fromDay: day, toDay: nextDay(day) };
  if (day >= toDay(Date.now() - DAYS_OF_THEIR_OWN * DAY_MS)) return alone;
  const month = { fromDay: `${day.slice(0, 7)}-01`, toDay: nextMonth(day) };
  const within = await trx
    .withTables<PostgresTables>()
    .selectFrom('partition')
    .select('name')
    .where('from_day', '<', month.toDay)
    .where('to_day', '>', month.fromDay)
    .executeTakeFirst();
  return within === undefined ? month : alone;
}

const nextDay = (day: string): string => toDay(Date.parse(day) + DAY_MS);

function nextMonth(day: string): string {
  const date = new Date(day);
  return toDay(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1));
}
