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
