import type { Kysely } from 'kysely';
import { readCoverage } from '../blocks/coverage.ts';
import { toJob } from '../rows/jobRow.ts';
import type { JobReads } from './contract.ts';
import type { Tables } from '../tables/tables.ts';
import { readUnverified, readUnverifiedCodes } from '../blocks/unverified.ts';

/** Reads backfill jobs, coverage and unverified blocks. */
export function createJobReads(db: Kysely<Tables>): JobReads {
  return {
    readCoverage: (streamId) => readCoverage(db, streamId),
    readUnverified: (chain) => readUnverified(db, chain),
    readUnverifiedCodes: (chain, number) => readUnverifiedCodes(db, chain, number),

    async readJob(id) {
      const row = await db.selectFrom('job').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toJob(row);
    },

    async listJobs({ streamId, limit }) {
      let query = db.selectFrom('job').selectAll();
      if (streamId !== undefined) query = query.where('stream_id', '=', streamId);
      const rows = await query.orderBy('id', 'desc').limit(limit).execute();
      return rows.map(toJob);
    },

    async readChildrenMissing(streamId, chain) {
      const row = await db
        .selectFrom('job')
        .select(({ fn }) => fn.min<number | null>('next_block').as('next'))
        .where('stream_id', '=', streamId)
        .where('chain', '=', chain)
        .where('kind', '=', 'children')
        .where('state', 'in', ['running', 'paused'])
        .executeTakeFirst();
      return row?.next ?? undefined;
    },

    async listRunningJobs(chain) {
      const rows = await db
        .selectFrom('job')
        .selectAll()
        .where('chain', '=', chain)
        .where('state', '=', 'running')
        .orderBy('id')
        .execute();
      return rows.map((row) => ({ ...toJob(row), isForAll: row.left_out === 1 }));
    },
  };
}
