import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Postgres, startPostgres } from '@sluice/testkit';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Engine } from './engine.ts';
import { postgresEngine } from './postgres/postgresEngine.ts';
import { sqliteEngine } from './sqlite/sqliteEngine.ts';
import { createServers } from './postgres/postgresServers.ts';
import { openSqlite } from './sqlite/sqliteConnection.ts';
import type { Tables } from '../tables/tables.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-pipeline-'));
let server: Postgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const openPostgres = () =>
  new Kysely<Tables>({ dialect: new PostgresDialect({ pool: createServers(server.url) }) });

describe.each<[string, Engine, () => Kysely<Tables>]>([
  ['SQLite', sqliteEngine, () => openSqlite(join(folder, 'any.db'), false).db],
  ['PostgreSQL', postgresEngine, openPostgres],
])('a pipeline on %s', (_, engine, open) => {
  test('executes statements in order, and throws the first error', async () => {
    const db = open();
    await sql`create table pair (n integer unique)`.execute(db);
    const add = (n: number) => () =>
      sql<{ n: number }>`insert into pair values (${n}) returning n`.compile(db);
    const all = () => sql<{ n: number }>`select n from pair order by n`.compile(db);
    const transact = (work: (trx: Kysely<Tables>) => Promise<unknown>) =>
      db.transaction().execute(work);

    await transact(async (trx) => {
      expect(
        await engine.pipeline(trx, [add(1), all, () => undefined, add(2), all] as const),
      ).toEqual([[{ n: 1 }], [{ n: 1 }], [], [{ n: 2 }], [{ n: 1 }, { n: 2 }]]);
    });
    const refused = () => {
      throw new RangeError('not a safe integer');
    };
    await expect(transact((trx) => engine.pipeline(trx, [add(3), add(1), add(4)]))).rejects.toThrow(
      /unique/i,
    );
    await expect(transact((trx) => engine.pipeline(trx, [add(3), refused]))).rejects.toThrow(
      'not a safe integer',
    );
    expect((await db.executeQuery(all())).rows).toEqual([{ n: 1 }, { n: 2 }]);
    await db.destroy();
  });
});

test('a pipeline on SQLite ends with the statement that rolls the transaction back', async () => {
  const { db, sqlite } = openSqlite(join(folder, 'full.db'), false);
  // As on a full disk, the failed statement rolls back the entire transaction.
  sqlite.exec(`
    create table kept (n); create table full (n);
    create trigger refuse before insert on full begin select raise(rollback, 'no room'); end`);
  const add = (table: string) => () => sql`insert into ${sql.table(table)} values (1)`.compile(db);
  const adding = db
    .transaction()
    .execute((trx) => sqliteEngine.pipeline(trx, [add('kept'), add('full'), add('kept')]));
  await expect(adding).rejects.toThrow('no room');
  expect(sqlite.prepare('select count(*) as n from kept').get()).toEqual({ n: 0 });
  await db.destroy();
});

test('a pipeline on PostgreSQL sends statements without waiting for the previous ones', async () => {
  const db = openPostgres();
  let ended = 0;
  const select = (n: number) => () => {
    expect(ended).toBe(0);
    return sql<{ n: number }>`select ${n}::int as n, pg_sleep(0.05)`.compile(db);
  };
  await db.transaction().execute(async (trx) => {
    const connection = await trx.getExecutor().provideConnection((each) => Promise.resolve(each));
    const execute = connection.executeQuery.bind(connection);
    connection.executeQuery = async (...args) => {
      const result = await execute(...args);
      ended++;
      return result as never;
    };
    const results = await postgresEngine.pipeline(trx, [select(1), select(2), select(3)]);
    expect(results).toMatchObject([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]]);
  });
  await db.destroy();
});
