/** Tests migrations of older ledgers on both engines. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Postgres, startPostgres } from '@sluice/testkit';
import { Kysely, PostgresDialect, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrate, migrations } from './migrations.ts';
import { openSqlite } from './sqlite/sqliteConnection.ts';

/** A migration that the next release may add: additive, on existing rows. */
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

/** Creates an empty database; returns a function that connects to it. */
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
      // Ending a pool does not wait for its connections, so a server shutdown can still raise
      // errors on them and on the pool.
      pool.on('connect', (client) => client.on('error', () => {}));
      pool.on('error', () => {});
      return new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
    };
  },
};

describe.each(['sqlite', 'postgres'] as const)('migrations on %s', (engine) => {
  const firstSchema = async () => {
    const open = await ENGINES[engine]();
    const db = open();
    await migrate(db, { '0001 ledger': migrations['0001 ledger']! });
    await sql`
        insert into stream (id, family, tag, description, webhook_url, chain_ids, options, deliver,
          notify_removed, headers, secrets, strict_order, status, status_message, address_count,
          revision, created_at, updated_at)
        values ('s', 'evm', 'tag', '', 'http://127.0.0.1:1/', '["0x1"]', '{}', 'both', 0, '{}', '[]', 0,
          'active', '', 0, 1, 1, 1)`.execute(db);
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
    const { rows } = await sql`select id, tag, later from stream`.execute(db);
    expect(rows).toEqual([{ id: 's', tag: 'tag', later: 7 }]);
    const { rows: done } = await sql`select name from migrations order by name`.execute(db);
    expect(done).toEqual(Object.keys(next).map((name) => ({ name })));
    await db.destroy();
  });

  // SQLite locks the folder, so only one process can migrate it.
  if (engine === 'postgres')
    test('run once when processes start at the same moment', async () => {
      const { open, db } = await firstSchema();
      const others = Array.from({ length: 4 }, open);
      await Promise.all(others.map((each) => migrate(each, next)));
      expect((await columns(db)).filter((name) => name === 'later')).toHaveLength(1);
      await Promise.all([db, ...others].map((each) => each.destroy()));
    });

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
    await expect(migrate(db, next, 'The ledger in /var/lib/sluice')).rejects.toMatchObject({
      message: expect.stringMatching(
        /^The ledger in \/var\/lib\/sluice was created by another build of Sluice .*"0001 ledger" is [\da-f]{16}, but in this build it is [\da-f]{16}$/,
      ) as string,
      fix: expect.stringContaining(
        'Start the build that created it, or use an empty ledger',
      ) as string,
    });
    expect(await columns(db)).toEqual(before);
    await migrate(db, { '0001 ledger': edited });
    await db.destroy();
  });

  test('reject a ledger of a build that recorded no hash', async () => {
    const { db } = await firstSchema();
    await sql`drop table migration_hash`.execute(db);
    await expect(migrate(db)).rejects.toThrow('its "0001 ledger" is without a hash');
    await db.destroy();
  });
});
