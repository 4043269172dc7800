import type { Kysely } from 'kysely';
import type { Engine } from '../engine/engine.ts';
import type { Tables } from '../tables/tables.ts';
import type { ChainHistoryReads } from './contract.ts';
import { listBlocks } from './recentBlocks.ts';
import { listTimelines } from './timelines.ts';

/** Reads the timelines, reorgs and gaps of chains. */
export function createChainHistoryReads(db: Kysely<Tables>, engine: Engine): ChainHistoryReads {
  return {
    async listReorgs({ chain, limit }) {
      let query = db.selectFrom('reorg').selectAll();
      if (chain !== undefined) query = query.where('chain', '=', chain);
      const rows = await query.orderBy('id', 'desc').limit(limit).execute();
      return rows.map((row) => ({
        chainId: row.chain,
        blockNumber: row.block_number,
        depth: row.depth,
        at: row.created_at,
      }));
    },

    async listGaps({ chain, limit }) {
      let query = db.selectFrom('gap').selectAll();
      if (chain !== undefined) query = query.where('chain', '=', chain);
      const rows = await query.orderBy('id', 'desc').limit(limit).execute();
      return rows.map((row) => ({
        chainId: row.chain,
        kind: row.kind,
        from: row.from_block,
        to: row.to_block,
        reason: row.reason,
        at: row.created_at,
        endedAt: row.ended_at,
      }));
    },

    listBlocks: (asked) => listBlocks(db, engine, asked),

    listTimelines: (asked) => listTimelines(db, engine, asked),
  };
}
