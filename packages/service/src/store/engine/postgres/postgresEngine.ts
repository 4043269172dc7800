/** The SQL of PostgreSQL, for a ledger that several processes can share. */
import { sql } from 'kysely';
import type { Engine } from '../engine.ts';
import { withoutWaiting } from '../pipeline.ts';
import { createPartitionWrites } from './partitionWrites.ts';
import { isOpen, openDay, openDays, toDayFilter } from './partitions.ts';
import { type ArrayValue, toBinaryArray } from './postgresArrays.ts';
import { postgresNow } from './postgresClock.ts';
import { retryDeadlocks } from './postgresDeadlocks.ts';
import { createServerReads } from './postgresServerReads.ts';

export const postgresEngine: Engine = {
  isShared: true,
  now: () => postgresNow,
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
  // With a plain `in`, PostgreSQL guesses the size of a new table and compares each of its rows with
  // each value.
  isIn: (select) => sql`= any(array(${select}))`,
  firstOfEach: (outer, { from, columns, where, orderBy, limit }) => sql`
    select found.* from ${outer} as outer_row cross join lateral (
      select ${sql.join(columns.map((column) => sql.ref(column)))} from ${sql.table(from)}
      where ${where} order by ${sql.ref(orderBy)} limit ${limit}) as found`,
  // PostgreSQL may otherwise scan the index of pending rows for each id, because its statistics show
  // that index as empty.
  opaque: (column) => sql`${sql.ref(column)} || ''`,
  lockRows: (strength, { of, skipLocked = false } = {}) =>
    sql`for ${sql.raw(strength)} ${of === undefined ? sql`` : sql`of ${sql.table(of)}`} ${
      skipLocked ? sql`skip locked` : sql``
    }`,
  rowId: sql`ctid`,
  indexedBy: () => sql``,
  deferFlush: sql`set_config('synchronous_commit', 'off', true)`,
  pipeline: withoutWaiting,
  async lock(trx, ...names) {
    // Sorts the names, because a fixed order prevents deadlocks.
    await sql`
      select pg_advisory_xact_lock(hashtextextended(value, 0))
      from json_array_elements_text(${JSON.stringify(names.toSorted())}::json)`.execute(trx);
  },
  retryDeadlocks,
  followClock: () => Promise.resolve(),
  isOpen,
  openDay,
  openDays,
  toDayFilter,
  isSameDay: (one, other) => sql`${sql.ref(one)} = ${sql.ref(other)}`,
  expiryBatch: { first: 5_000, most: 5_000 },
  createDayWrites: createPartitionWrites,
  createServerReads,
};
