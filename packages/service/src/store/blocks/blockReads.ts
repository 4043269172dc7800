/** Reads the checkpoint and the window of a chain. */
import { type Kysely, sql } from 'kysely';
import { type Engine, readMoment } from '../engine/engine.ts';
import type { Tables } from '../tables/tables.ts';
import { type BlockReads, FINALITY_TAGS, type FinalityTag } from './contract.ts';

export function createBlockReads(db: Kysely<Tables>, engine: Engine): BlockReads {
  return {
    async readCheckpoint(chain) {
      const row = await db
        .selectFrom('checkpoint')
        .select(['number', 'hash', 'genesis_hash'])
        .where('chain', '=', chain)
        .executeTakeFirst();
      return row && { number: row.number, hash: row.hash, genesisHash: row.genesis_hash };
    },

    async listAwaitedTags(chain) {
      const { open } = await readMoment(engine, db);
      const { rows } = await sql<{ wanted: FinalityTag }>`
        select wanted from ${engine.texts(FINALITY_TAGS, 'wanted')} as known
        where (select 1 from match where ${open('block_day')} and chain = ${chain}
            and state = 'frozen' and confirm_by = wanted
            order by block_number + confirm_depth limit 1) = 1
          or exists (select 1 from job join stream on stream.id = job.stream_id
            where job.chain = ${chain} and job.state = 'running'
              and stream.confirm_by = wanted)`.execute(db);
      return rows.map(({ wanted }) => wanted);
    },

    async readWindow(chain, limit) {
      const rows = await db
        .selectFrom('block')
        .select(['number', 'hash', 'parent_hash', 'timestamp', 'matches'])
        .where('chain', '=', chain)
        .orderBy('number', 'desc')
        .limit(limit)
        .execute();
      return rows.map(({ parent_hash: parentHash, ...row }) => ({ ...row, parentHash }));
    },
  };
}
