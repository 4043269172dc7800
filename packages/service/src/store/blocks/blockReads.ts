/** Reads the checkpoint and the window of a chain. */
import type { Kysely } from 'kysely';
import type { Tables } from '../tables/tables.ts';
import type { BlockReads } from './contract.ts';

export function createBlockReads(db: Kysely<Tables>): BlockReads {
  return {
    async readCheckpoint(chain) {
      const row = await db
        .selectFrom('checkpoint')
        .select(['number', 'hash', 'genesis_hash'])
        .where('chain', '=', chain)
        .executeTakeFirst();
      return row && { number: row.number, hash: row.hash, genesisHash: row.genesis_hash };
    },

    async listHeldBlocks(chain, limit) {
      const rows = await db
        .selectFrom('match')
        .select(['block_number as number', 'block_hash as hash'])
        .select(({ fn }) => fn.min<number>('created_at').as('since'))
        .where('chain', '=', chain)
        .where('held', '=', 1)
        .where('state', '<>', 'orphaned')
        .groupBy(['block_number', 'block_hash'])
        .orderBy('block_number')
        .limit(limit)
        .execute();
      return rows;
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
