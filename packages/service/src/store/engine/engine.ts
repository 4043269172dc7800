/**
 * Abilities that each engine implements in its own way. An engine is one folder here, and nothing
 * outside its folder names it.
 */
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db, Tables } from '../tables/tables.ts';
import type { DayFilter, DayRange } from './days.ts';
import type { Pipeline } from './pipeline.ts';

export interface Engine {
  /**
   * Whether several processes may use the ledger at a time. If not, everything that an earlier
   * process left behind may be ended at the start.
   */
  readonly isShared: boolean;
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
   * Ends a condition like `column in (select …)`, so that each value is looked up, even in a new
   * table without statistics.
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
   * condition uses this column.
   */
  opaque(column: string): RawBuilder<string>;
  /**
   * Returns a clause for the end of a select, which locks its rows, or those of one table, until the
   * transaction ends. With `skipLocked`, omits rows that another transaction has locked. Empty if
   * only one transaction writes at a time.
   */
  lockRows(
    strength: RowLock,
    options?: { of?: keyof Tables; skipLocked?: boolean },
  ): RawBuilder<unknown>;
  /** Name of the hidden column that identifies a row of a table without a key. */
  readonly rowId: RawBuilder<unknown>;
  /**
   * Returns a clause to put after a table name, which forces this index if the engine has no
   * statistics to choose it.
   */
  indexedBy(index: string): RawBuilder<unknown>;
  /**
   * Expression that lets the transaction return before it is on disk or on a standby. Each later
   * transaction that waits, such as a claim, also waits for this one. Null if each commit waits.
   */
  readonly deferFlush: RawBuilder<unknown>;
  /**
   * Executes statements of a transaction in this order, and returns the rows of each. None can
   * depend on the rows of another.
   *
   * @throws the first error
   */
  readonly pipeline: Pipeline;
  /** Takes locks with these names until the transaction ends. */
  lock(trx: Db, ...names: string[]): Promise<void>;
  /**
   * Runs a transaction again if the database ended it because of a deadlock, up to five times in
   * all.
   */
  retryDeadlocks<Result>(transact: () => Promise<Result>): Promise<Result>;
  /**
   * Shortens all waits by the step of a clock that went back, so that they do not last longer. Does
   * nothing if the database's clock is the server's.
   */
  followClock(db: Kysely<Tables>): Promise<void>;
  /**
   * Expression that is 1 if rows of this day can be written and are found by {@link openDays}, until
   * the transaction ends; 0 otherwise.
   */
  isOpen(day: string): RawBuilder<number>;
  /**
   * Makes {@link isOpen} 1. Must be called before a match or delivery of the day is written or
   * becomes pending again.
   */
  openDay(trx: Db, day: string): Promise<void>;
  /**
   * Expression for the days that may have unfinished rows. `toDayFilter` converts the result to a
   * filter.
   */
  readonly openDays: RawBuilder<unknown>;
  toDayFilter(days: readonly DayRange[]): DayFilter;
  /** Condition that a join of rows of one day adds, if it saves work to compare their days. */
  isSameDay(one: string, other: string): RawBuilder<SqlBool>;
  /**
   * Numbers of rows to delete in the first batch of expired rows, and at most in later ones. They
   * are small if a deletion blocks other writes.
   */
  readonly expiryBatch: { readonly first: number; readonly most: number };
  createDayWrites(db: Kysely<Tables>): DayWrites;
  createServerReads(db: Kysely<Tables>): ServerReads;
}

/** Strength of a row lock, from the weakest to the strongest. */
export type RowLock = 'key share' | 'share' | 'no key update' | 'update';

/** Type of a column in a list of rows. */
export type ColumnType = 'bigint' | 'text';

/**
 * Retention periods: `deliveredMs` for deliveries that succeeded or were canceled, `undeliveredMs`
 * for all others except those that are being sent.
 */
export interface RetentionAges {
  deliveredMs: number;
  undeliveredMs: number;
}

export interface DayWrites {
  /**
   * Prepares the coming days, and drops old days without rows to keep. Old days with only a few rows
   * to keep are shrunk to these rows. Returns the names of the dropped and the shrunk days, and the
   * milliseconds for which expired rows are kept, because they will be dropped with their day.
   */
  tendDays(ages: RetentionAges): Promise<{ dropped: string[]; shrunk: string[]; keptMs: number }>;
}

export interface ServerReads {
  /** Counts the commits that have waited for a standby server for at least 2 s. */
  countWaitingCommits(): Promise<number>;
  /**
   * Returns the age in milliseconds of the oldest transaction, which keeps the server from removing
   * old row versions; null without a server.
   */
  readOldestTransactionAge(): Promise<number | null>;
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
