/** Reads the state of the database server. SQLite has no server. */
import { type Kysely, sql } from 'kysely';
import type { Engine } from '../engine/engine.ts';
import { WAITING_COMMITS } from '../engine/postgres/postgresServers.ts';
import type { Tables } from '../engine/tables.ts';
import type { ServerReads } from './contract.ts';

export const createServerReads = (db: Kysely<Tables>, engine: Engine): ServerReads => ({
  async countWaitingCommits() {
    if (engine.name === 'sqlite') return 0;
    const { rows } = await sql.raw<{ n: number }>(WAITING_COMMITS).execute(db);
    return rows[0]!.n;
  },

  async readOldestTransactionAge() {
    if (engine.name === 'sqlite') return null;
    const { rows } = await sql<{ age: number }>`
      select coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0)::float8 as age
      from pg_stat_activity where backend_xmin is not null or backend_xid is not null`.execute(db);
    return rows[0]!.age * 1000;
  },
});
