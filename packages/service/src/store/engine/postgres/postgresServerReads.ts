import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../tables/tables.ts';
import type { ServerReads } from '../engine.ts';
import { WAITING_COMMITS } from './postgresServers.ts';

export const createServerReads = (db: Kysely<Tables>): ServerReads => ({
  async countWaitingCommits() {
    const { rows } = await sql.raw<{ n: number }>(WAITING_COMMITS).execute(db);
    return rows[0]!.n;
  },

  async readOldestTransactionAge() {
    const { rows } = await sql<{ age: number }>`
      select coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0)::float8 as age
      from pg_stat_activity where backend_xmin is not null or backend_xid is not null`.execute(db);
    return rows[0]!.age * 1000;
  },
});
