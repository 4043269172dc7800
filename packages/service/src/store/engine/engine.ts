/** Differences between the SQL of SQLite and PostgreSQL. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { toLedgerJson } from './ledgerText.ts';
import { type ArrayValue, type ColumnType, toBinaryArray } from './postgres/postgresArrays.ts';
import {
  type DayFilter,
  type DayRange,
  isOpen,
  openDay,
  openDays,
  toDayFilter,
} from './partitions.ts';
import { type Pipeline, oneByOne, withoutWaiting } from './pipeline.ts';
import type { Db, Tables } from './tables.ts';

export interface Engine {
  readonly name: 'sqlite' | 'postgres';
  /**
   * Returns an expression for the database's current time in Unix milliseconds. Leases and
   * schedules use only this clock.
   */
  now(): RawBuilder<number>;
  /**
   * Returns a list of plain objects as a table with these columns. A column that an object omits is
   * null. The number of parameters does not depend on the length of the list.
   */
  rows(objects: readonly object[], columns: Record<string, ColumnType>): RawBuilder<object>;
  /** Returns a list of strings as a table with one column. Faster than `rows` on SQLite. */
  texts(values: readonly string[], column: string): RawBuilder<object>;
  /**
   * Ends a condition like `column in (select …)`, so that each value is looked up. With a plain
   * `in`, PostgreSQL guesses the size of a new table and compares each of its rows with each value.
   */
  isIn(select: RawBuilder<unknown>): RawBuilder<unknown>;
  /**
   * For each row of `outer`, selects the first `limit` rows of a table, with one index seek per
   * row. `where` may reference the columns of `outer`.
   */
  firstOfEach<Row>(
    outer: RawBuilder<object>,
    inner: {
      from: keyof Tables;
      columns: readonly (keyof Row & string)[];
      where: RawBuilder<SqlBool>;
      orderBy: string;
      limit: number;
    },
  ): RawBuilder<Row>;
  /**
   * Hides a text column from the planner, so that it does not choose a partial index whose
   * condition uses this column. Otherwise, PostgreSQL may scan the index of pending rows for each
   * id, because its statistics show that index as empty.
   */
  opaque(column: string): RawBuilder<string>;
  /**
   * Clause at the end of a select of rows to claim: locks these rows, and skips rows that other
   * processes have locked. Empty on SQLite.
   */
  readonly skipLocked: RawBuilder<unknown>;
  /**
   * Returns a clause to put after a table name, which forces this index on SQLite, because SQLite
   * has no statistics to choose it.
   */
  indexedBy(index: string): RawBuilder<unknown>;
  /**
   * Expression that lets the transaction return before it is on disk or on a standby. Each later
   * transaction that waits, such as a claim, also waits for this one. Null on SQLite.
   */
  readonly deferFlush: RawBuilder<unknown>;
  /**
   * Executes statements of a transaction in this order, and returns the rows of each. None can
   * depend on the rows of another.
   *
   * @throws the first error
   */
  readonly pipeline: Pipeline;
  /** Takes locks with these names until the transaction ends. Does nothing on SQLite. */
  lock(trx: Db, ...names: string[]): Promise<void>;
  /**
   * Expression that is 1 if the partition of this day is open, and keeps it open until the
   * transaction ends; 0 otherwise. Always 1 on SQLite.
   */
  isOpen(day: string): RawBuilder<number>;
  /**
   * Ensures that the partition of this day exists and is included in searches for pending rows.
   * Must be called before a match or delivery of the day is written or becomes pending again.
   */
  openDay(trx: Db, day: string): Promise<void>;
  /**
   * Expression for the days that may have unfinished rows. `toDayFilter` converts the result to a
   * filter.
   */
  readonly openDays: RawBuilder<unknown>;
  toDayFilter(days: readonly DayRange[]): DayFilter;
}

const [major = 0, minor = 0] = (process.versions['sqlite'] ?? '').split('.').map(Number);
/** Whether SQLite is version 3.51 or newer. Node 24 may include an older version. */
export const isSqliteFrom351 = major > 3 || (major === 3 && minor >= 51);

/**
 * `jsonb_each` parses a list once; `json_each` parses each object again for each of its columns
 * (5.2 instead of 1.7 µs for a row of nine columns).
 */
const eachRow = sql.raw(isSqliteFrom351 ? 'jsonb_each' : 'json_each');

export const sqliteEngine: Engine = {
  name: 'sqlite',
  // One process owns the file, so the process's clock is the database's clock.
  now: () => sql.val(Date.now()),
  rows: (objects, columns) =>
    sql`(select ${sql.join(
      Object.keys(columns).map((name) => sql`value ->> ${sql.lit(name)} as ${sql.ref(name)}`),
    )} from ${eachRow}(${toLedgerJson(objects)}))`,
  texts: (values, column) =>
    sql`(select value as ${sql.ref(column)} from json_each(${toLedgerJson(values)}))`,
  isIn: (select) => sql`in (${select})`,
  // SQLite has no lateral joins, so a subquery selects the row ids of the first rows.
  firstOfEach: (outer, { from, columns, where, orderBy, limit }) => sql`
    select ${sql.join(columns.map((column) => sql.ref(column)))}
    from ${outer} as outer_row cross join ${sql.table(from)} as found
    where found.rowid in (
      select rowid from ${sql.table(from)} where ${where} order by ${sql.ref(orderBy)} limit ${limit})`,
  opaque: (column) => sql.ref(column),
  skipLocked: sql``,
  indexedBy: (index) => sql`indexed by ${sql.ref(index)}`,
  deferFlush: sql`null`,
  pipeline: oneByOne,
  // SQLite runs one write transaction at a time, so no locks are needed.
  lock: () => Promise.resolve(),
  isOpen: () => sql`1`,
  openDay: () => Promise.resolve(),
  openDays: sql`null`,
  toDayFilter: () => () => sql`true`,
};

export const postgresEngine: Engine = {
  name: 'postgres',
  now: () => sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`,
  rows: (objects, columns) =>
    sql`(select * from unnest(${sql.join(
      Object.entries(columns).map(
        ([name, type]) =>
          sql`${toBinaryArray(
            objects.map((object) => (object as Record<string, ArrayValue>)[name]),
            type,
          )}::${sql.raw(type)}[]`,
      ),
    )}) as r(${sql.join(Object.keys(columns).map((name) => sql.ref(name)))}))`,
  texts: (values, column) =>
    sql`(select * from unnest(${toBinaryArray(values, 'text')}::text[]) as r(${sql.ref(column)}))`,
  isIn: (select) => sql`= any(array(${select}))`,
  firstOfEach: (outer, { from, columns, where, orderBy, limit }) => sql`
    select found.* from ${outer} as outer_row cross join lateral (
      select ${sql.join(columns.map((column) => sql.ref(column)))} from ${sql.table(from)}
      where ${where} order by ${sql.ref(orderBy)} limit ${limit}) as found`,
  opaque: (column) => sql`${sql.ref(column)} || ''`,
  skipLocked: sql`for update skip locked`,
  indexedBy: () => sql``,
  deferFlush: sql`set_config('synchronous_commit', 'off', true)`,
  pipeline: withoutWaiting,
  async lock(trx, ...names) {
    // Sorts the names, because a fixed order prevents deadlocks.
    await sql`
      select pg_advisory_xact_lock(hashtextextended(value, 0))
      from json_array_elements_text(${JSON.stringify(names.toSorted())}::json)`.execute(trx);
  },
  isOpen,
  openDay,
  openDays,
  toDayFilter,
};

const DEADLOCK = '40P01';
const MAX_TRIES = 5;

/** Runs a transaction. If PostgreSQL ends it because of a deadlock, runs it again, 5 times in all. */
export async function retryDeadlocks<Result>(transact: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await transact();
    } catch (error) {
      const isDeadlock = [error, (error as Error).cause].some(
        (each) => (each as { code?: string } | undefined)?.code === DEADLOCK,
      );
      if (!isDeadlock || tries === MAX_TRIES) throw error;
    }
  }
}

export async function readNow(engine: Engine, db: Db): Promise<number> {
  const { rows } = await sql<{ now: number }>`select ${engine.now()} as now`.execute(db);
  return rows[0]!.now;
}

/**
 * The current time, and a filter for the days that may have unfinished rows: frozen matches, or
 * deliveries that have not ended.
 */
export interface Moment {
  now: number;
  open: DayFilter;
}

interface MomentRow {
  now: number;
  days: DayRange[];
}

export const selectMoment = (engine: Engine): RawBuilder<MomentRow> =>
  sql`select ${engine.now()} as now, ${engine.openDays} as days`;

export const toMoment = (engine: Engine, { now, days }: MomentRow): Moment => ({
  now,
  open: engine.toDayFilter(days),
});

export async function readMoment(engine: Engine, db: Db): Promise<Moment> {
  const { rows } = await selectMoment(engine).execute(db);
  return toMoment(engine, rows[0]!);
}
