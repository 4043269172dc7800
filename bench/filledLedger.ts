/** Fills a ledger directly with SQL, and reads it through its store. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, PostgresDialect, sql } from 'kysely';
import type { Engine } from '../packages/service/src/store/engine/engine.ts';
import { postgresEngine } from '../packages/service/src/store/engine/postgres/postgresEngine.ts';
import { sqliteEngine } from '../packages/service/src/store/engine/sqlite/sqliteEngine.ts';
import { openPostgresStore } from '../packages/service/src/store/engine/postgres/postgres.ts';
import { createServers } from '../packages/service/src/store/engine/postgres/postgresServers.ts';
import {
  LEDGER_FILE,
  openSqliteStore,
} from '../packages/service/src/store/engine/sqlite/sqlite.ts';
import { openSqlite } from '../packages/service/src/store/engine/sqlite/sqliteConnection.ts';
import type { Store } from '../packages/service/src/store/store.ts';
import type { Tables } from '../packages/service/src/store/tables/tables.ts';
import { type EngineName, withPostgres } from './delivery/ledgers.ts';
import { type Figure, toFigure } from './figures.ts';

const READINGS = 9;

export type Fill = (db: Kysely<Tables>, engine: Engine) => Promise<void>;
export type Read = (store: Store, db: Kysely<Tables>) => Promise<void>;

export async function withFilledLedger(name: EngineName, fill: Fill, read: Read): Promise<void> {
  if (name === 'sqlite') await withSqlite(fill, read);
  else await withPostgres(({ url }) => fillPostgres(url, fill, read));
}

async function withSqlite(fill: Fill, read: Read): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  await (await openSqliteStore(folder)).close();
  const { db, sqlite } = openSqlite(join(folder, LEDGER_FILE), false);
  sqlite.exec('pragma synchronous = off');
  await fill(db, sqliteEngine);
  const store = await openSqliteStore(folder);
  await read(store, db);
  await store.close();
  await db.destroy();
  rmSync(folder, { recursive: true });
}

async function fillPostgres(url: string, fill: Fill, read: Read): Promise<void> {
  const store = await openPostgresStore(url);
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: createServers(url) }) });
  await fill(db, postgresEngine);
  await sql`vacuum analyze`.execute(db);
  await read(store, db);
  await db.destroy();
  await store.close();
}

/** Returns the median time of nine readings, with the fastest and the slowest time in the note. */
export async function timeReadings(ask: () => Promise<unknown>): Promise<Figure> {
  const times: number[] = [];
  for (let n = 0; n < READINGS; n++) {
    const from = performance.now();
    await ask();
    times.push(performance.now() - from);
  }
  const [least = 0, ...rest] = times.toSorted((a, b) => a - b);
  const most = Math.round(rest.at(-1) ?? least);
  return toFigure(rest[(READINGS >> 1) - 1] ?? least, 'ms', `${Math.round(least)} to ${most}`);
}
