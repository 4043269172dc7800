/** Values on chain that follow the blocks of their chain: blocks whose state is to be read, and rewinds. */
import type { CompiledQuery } from 'kysely';
import type { Db } from '../tables/tables.ts';
import type { BlockHeader, BlockRef } from './contract.ts';

/** Builds the statement that records that the state of a block is to be read. */
export const insertPendingState = (
  trx: Db,
  { chain, block, after }: { chain: string; block: BlockHeader; after: BlockRef },
): CompiledQuery<unknown> =>
  trx
    .insertInto('pending_state')
    .values({
      chain,
      block_number: block.number,
      block_hash: block.hash,
      parent_hash: block.parentHash,
      block_timestamp: block.timestamp,
      after_number: after.number,
    })
    .compile();

/** Deletes the values and pending states of the blocks above this number. */
export async function rewindValues(trx: Db, chain: string, number: number): Promise<void> {
  await trx
    .deleteFrom('pending_state')
    .where('chain', '=', chain)
    .where('block_number', '>', number)
    .execute();
  await trx
    .deleteFrom('read_value')
    .where('chain', '=', chain)
    .where('from_block', '>', number)
    .execute();
  await trx
    .updateTable('read_value')
    .set({ to_block: number })
    .where('chain', '=', chain)
    .where('to_block', '>', number)
    .execute();
  await trx
    .updateTable('read_up_to')
    .set({ block_number: number })
    .where('chain', '=', chain)
    .where('block_number', '>', number)
    .execute();
}
