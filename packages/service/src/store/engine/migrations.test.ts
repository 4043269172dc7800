/** Tests migrations of older ledgers on both engines. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Postgres, startPostgres, until } from '@sluice/testkit';
import { Kysely, PostgresDialect, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_DELIVERY, DEFAULT_OPTIONS } from '../streams/contract.ts';
import { streamColumns, toStreamRecord } from '../streams/streamRow.ts';
import type { Tables } from '../tables/tables.ts';
import { migrate as migrateAlone, migrations } from './migrations.ts';
import { migrateInTurn } from './postgres/postgresMigrations.ts';
import { openSqlite } from './sqlite/sqliteConnection.ts';

/** Migrations of a later release, which adds a column to a table that may have rows. */
const next: Record<string, Migration> = {
  ...migrations,
  '9999 a later one': {
    async up(db: Kysely<unknown>) {
      await sql`alter table stream add column later integer not null default 7`.execute(db);
    },
  },
};
const broken: Record<string, Migration> = {
  ...next,
  '9999 a later one': {
    async up(db: Kysely<unknown>) {
      await sql`alter table stream add column later integer`.execute(db);
      await sql`alter table nothing add column later integer`.execute(db);
    },
  },
};

const folder = mkdtempSync(join(tmpdir(), 'sluice-migrations-'));
let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true });
});

let databases = 0;

const MIGRATE = { sqlite: migrateAlone, postgres: migrateInTurn };

/** Each function creates an empty database, and returns a function that connects to it. */
const ENGINES = {
  sqlite() {
    const path = join(folder, `${++databases}.db`);
    return Promise.resolve(() => openSqlite(path, false).db as unknown as Kysely<unknown>);
  },
  async postgres() {
    const client = new pg.Client(postgres.url);
    await client.connect();
    const database = `migrations${++databases}`;
    await client.query(`create database ${database}`);
    await client.end();
    const url = postgres.url.replace(/postgres$/, database);
    return () => {
      const pool = new pg.Pool({ connectionString: url });
      // `pool.end()` does not wait for its connections to close, so stopping the server can still
      // raise errors on the pool and its clients.
      pool.on('connect', (client) => client.on('error', () => {}));
      pool.on('error', () => {});
      return new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
    };
  },
};

describe.each(['sqlite', 'postgres'] as const)('migrations on %s', (engine) => {
  const migrate = MIGRATE[engine];
  const firstSchema = async () => {
    const open = await ENGINES[engine]();
    const db = open();
    await migrate(db, { '0001 ledger': migrations['0001 ledger']! });
    await sql`
        insert into stream (id, family, tag, description, webhook_url, chain_ids, options, deliver,
          notify_removed, headers, secrets, strict_order, status, status_message, spared_reason,
          spared_since, spared_until, address_count, revision, created_at, updated_at)
        values ('s', 'evm', 'tag', '', 'http://127.0.0.1:1/', '["0x1"]', '{}', 'both', 0, '{}', '[]', 0,
          'active', '', 'throttled', 3, 4, 0, 1, 1, 1)`.execute(db);
    await sql`
        insert into operator_notice (subject, state, told, id, body, attempts, run_at, sent_at)
        values ('chain 0x1', 'halted', 'running', 'a', '{}', 1, 2, 3),
          ('chain 0x2', 'running', 'halted', 'b', null, 0, 4, null)`.execute(db);
    return { open, db };
  };
  const columns = async (db: Kysely<unknown>): Promise<string[]> => {
    const stream = (await db.introspection.getTables()).find(({ name }) => name === 'stream');
    return stream!.columns.map(({ name }) => name);
  };

  test('keep the rows of the first schema, and a second run changes nothing', async () => {
    const { db } = await firstSchema();
    await migrate(db, next);
    await migrate(db, next);
    const { rows } = await sql`
      select id, tag, later, back_off_reason, cast(back_off_since as integer) as since,
        cast(back_off_until as integer) as until from stream`.execute(db);
    expect(rows).toEqual([
      { id: 's', tag: 'tag', later: 7, back_off_reason: 'throttled', since: 3, until: 4 },
    ]);
    const stream = await (db as Kysely<Tables>)
      .selectFrom('stream')
      .select(streamColumns)
      .executeTakeFirstOrThrow();
    expect(toStreamRecord(stream)).toMatchObject({ ...DEFAULT_DELIVERY, options: DEFAULT_OPTIONS });
    const { rows: alerts } = await sql`
      select receiver, subject, state, reported, id, body, attempts,
        cast(run_at as integer) as run_at, cast(sent_at as integer) as sent_at
      from alert order by subject`.execute(db);
    expect(alerts).toEqual([
      {
        receiver: '',
        subject: 'chain 0x1',
        state: 'halted',
        reported: 'running',
        id: 'a',
        body: '{}',
        attempts: 1,
        run_at: 2,
        sent_at: 3,
      },
      {
        receiver: '',
        subject: 'chain 0x2',
        state: 'running',
        reported: 'halted',
        id: 'b',
        body: null,
        attempts: 0,
        run_at: 4,
        sent_at: null,
      },
    ]);
    const { rows: done } = await sql`select name from migrations order by name`.execute(db);
    expect(done).toEqual(Object.keys(next).map((name) => ({ name })));
    await db.destroy();
  });

  test('count known children', async () => {
    const { db } = await firstSchema();
    const isBefore = ([name]: [string, unknown]): boolean => name < '0019';
    await migrate(db, Object.fromEntries(Object.entries(migrations).filter(isBefore)));
    for (const [factory, address] of [
      ['f', '0xa'],
      ['f', '0xb'],
      ['g', '0xc'],
    ]) {
      await sql`
        insert into child (stream_id, chain, factory, address, block_number)
        values ('s', '0x1', ${factory}, ${address}, 60)`.execute(db);
    }
    await migrate(db, migrations);
    const { rows } = await sql`
      select factory, cast(children as integer) as children
      from stream join child_list on stream_id = stream.id order by factory`.execute(db);
    expect(rows).toEqual([
      { factory: 'f', children: 2 },
      { factory: 'g', children: 1 },
    ]);
    await db.destroy();
  });

  test('let keys with full access read feeds', async () => {
    const { db } = await firstSchema();
    const keys = {
      full: ['streams:read', 'history:read', 'settings:admin'],
      history: ['history:read'],
      settings: ['settings:admin'],
    };
    for (const [name, scopes] of Object.entries(keys)) {
      await sql`
        insert into api_key (id, name, hash, scopes, cidrs, created_at)
        values (${name}, ${name}, '', ${JSON.stringify(scopes)}, '[]', 1)`.execute(db);
    }
    await migrate(db, migrations);
    const { rows } = await sql<{ id: keyof typeof keys; scopes: string }>`
      select id, scopes from api_key`.execute(db);
    expect(Object.fromEntries(rows.map(({ id, scopes }) => [id, JSON.parse(scopes)]))).toEqual({
      ...keys,
      full: ['streams:read', 'history:read', 'feed:read', 'settings:admin'],
    });
    await db.destroy();
  });

  // On PostgreSQL, the tables of matches have partitions, which this test would have to create.
  if (engine === 'sqlite') {
    test('let frozen matches wait for the confirmations of their chain', async () => {
      const { db } = await firstSchema();
      await sql`
        insert into match (id, stream_id, chain, block_number, block_hash, block_day, part, parts,
          origin, state, tag, logs, transactions, internal_transactions, about, body_head, body_tail,
          body_bytes, created_at)
        values ('m', 's', '0x1', 7, '0x7', '2020-01-01', 0, 1, 'live:0', 'frozen', '', 1, 0, 0, '',
          '{', '}', 2, 1)`.execute(db);
      await migrate(db, migrations);
      const { rows } = await sql`
        select confirm_by, confirm_depth, held, set_aside, unverified from match`.execute(db);
      expect(rows).toEqual([
        { confirm_by: 'chain', confirm_depth: 0, held: 0, set_aside: null, unverified: null },
      ]);
      await db.destroy();
    });
  }

  // Only one process can migrate a SQLite ledger, because a process locks the folder first.
  if (engine === 'postgres') {
    test('run once when processes start at the same moment', async () => {
      const { open, db } = await firstSchema();
      const others = Array.from({ length: 8 }, open);
      await Promise.all(others.map((each) => migrate(each, next)));
      expect((await columns(db)).filter((name) => name === 'later')).toHaveLength(1);
      await Promise.all([db, ...others].map((each) => each.destroy()));
    });

    test('compare keys by bytes in every index', async () => {
      const { db } = await firstSchema();
      await migrate(db, next);
      const { rows } = await sql`
        select indexrelid::regclass::text as index, attname as column from pg_index
        join pg_class on pg_class.oid = indrelid
        join pg_attribute on attrelid = indrelid and attnum = any(indkey)
        where relnamespace = current_schema()::regnamespace and atttypid = 'text'::regtype
          and attcollation <> '"C"'::regcollation and attname <> 'block_day'
          and relname not like '%migration%'`.execute(db);
      expect(rows).toEqual([]);
      await db.destroy();
    });

    test('are repeated after a deadlock with a running process', async () => {
      const { open, db } = await firstSchema();
      const last = '0011 keys by bytes';
      const before = (upTo: string) =>
        Object.fromEntries(Object.entries(migrations).filter(([name]) => name < upTo));
      await migrate(db, before(last));
      const other = open();
      await other.connection().execute(async (running) => {
        // Only the migration looks for a deadlock, so PostgreSQL ends the migration.
        await sql`begin`.execute(running);
        await sql`set local deadlock_timeout = '1h'`.execute(running);
        await sql`lock table stream in access share mode`.execute(running);
        const migrated = migrate(db, before(`${last}~`));
        await until('the migration waits', async () => {
          const { rows } = await sql`
            select 1 from pg_locks where relation = 'stream'::regclass and not granted`.execute(
            running,
          );
          return rows.length === 1;
        });
        await sql`select 1 from alert`.execute(running);
        await sql`commit`.execute(running);
        await migrated;
      });
      await Promise.all([db.destroy(), other.destroy()]);
    });

    test('start no check while another process migrates', async () => {
      const { open, db } = await firstSchema();
      const [other, running] = [open(), open()];
      const count = async (condition: string): Promise<number> => {
        const { rows } = await sql`
          select 1 from pg_stat_activity where datname = current_database()
            and ${sql.raw(condition)}`.execute(running);
        return rows.length;
      };
      await running.connection().execute(async (holder) => {
        await sql`begin`.execute(holder);
        await sql`lock table stream in access share mode`.execute(holder);
        const first = migrate(db, next);
        await until(
          'the migration waits',
          async () => (await count(`wait_event = 'relation'`)) === 1,
        );
        const second = migrate(other, next);
        await until(
          'the other process waits for its turn',
          async () => (await count(`wait_event = 'advisory' and query like '%hashtext(%'`)) === 1,
        );
        await sql`commit`.execute(holder);
        await Promise.all([first, second]);
      });
      expect(await columns(db)).toContain('later');
      await Promise.all([db, other, running].map((each) => each.destroy()));
    });
  }

  test('leave the ledger unchanged on failure, and name the failed migration', async () => {
    const { db } = await firstSchema();
    await expect(migrate(db, broken)).rejects.toThrow('Migration 9999 a later one failed');
    expect(await columns(db)).not.toContain('later');
    await migrate(db, next);
    await db.destroy();
  });

  test('reject a ledger of a newer program without changing it', async () => {
    const { db } = await firstSchema();
    await migrate(db, next);
    await expect(migrate(db)).rejects.toMatchObject({
      message: expect.stringContaining(
        'created by a newer version of Sluice: it has migration "9999 a later one"',
      ) as string,
      fix: expect.stringContaining('Start the newer version') as string,
    });
    await db.destroy();
  });

  test.each<[string, Migration]>([
    [
      'newer, with an extra column',
      {
        async up(db) {
          await migrations['0001 ledger']!.up(db);
          await sql`alter table stream add column more integer`.execute(db);
        },
      },
    ],
    [
      'older, with a missing column',
      {
        async up(db) {
          await migrations['0001 ledger']!.up(db);
          await sql`alter table stream drop column status_message`.execute(db);
        },
      },
    ],
    [
      'same columns, different indexes',
      {
        async up(db) {
          await migrations['0001 ledger']!.up(db);
          await sql`drop index stream_revision`.execute(db);
        },
      },
    ],
  ])('reject a ledger of another build without changing it: %s', async (_, edited) => {
    const db = (await ENGINES[engine]())();
    await migrate(db, { '0001 ledger': edited });
    const before = await columns(db);
    const migrateNext = () => migrate(db, next, 'The ledger in /var/lib/sluice');
    await expect(migrateNext()).rejects.toMatchObject({
      message: expect.stringMatching(
        /^The ledger in \/var\/lib\/sluice was created by another build of Sluice .*"0001 ledger" is [\da-f]{16}, but in this build it is [\da-f]{16}$/,
      ) as string,
      fix: expect.stringContaining(
        'Start the build that created it, or use an empty ledger',
      ) as string,
    });
    expect(await columns(db)).toEqual(before);
    // The newest migration of the other build is the same.
    await migrate(db, { ...next, '0001 ledger': edited });
    await expect(migrateNext()).rejects.toThrow('the hash of "0001 ledger" is');
    await db.destroy();
  });

  test('reject a ledger of a build that recorded no hash', async () => {
    const { db } = await firstSchema();
    await sql`drop table migration_hash`.execute(db);
    await expect(migrate(db)).rejects.toThrow('the hash of "0001 ledger" is unknown');
    await db.destroy();
  });
});
