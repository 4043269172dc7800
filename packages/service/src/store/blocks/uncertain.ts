/** Records uncertain and held blocks, which are read again later. */
import { type Expression, type SqlBool, sql } from 'kysely';
import type { Db } from '../tables/tables.ts';
import type { BlockHeader, BlockRef, Unverified } from './contract.ts';

/** Time for which a block that left the chain is kept, in case it returns. */
const KEEP_LEFT_MS = 86_400_000;

/** Returns a condition that is true if a stream holds its matches in this block. */
export const isHeld = (chain: unknown, number: unknown, hash: unknown): Expression<SqlBool> =>
  sql<SqlBool>`exists (select 1 from match where chain = ${chain} and block_number = ${number}
    and block_hash = ${hash} and held = 1 and state <> 'orphaned')`;

/** Records a block to be read again, if a check failed or a stream holds its matches. */
export async function recordUncertain(
  trx: Db,
  {
    chain,
    block,
    jobId = '',
    unverified: { codes, isUncertain, reading },
    now,
  }: {
    chain: string;
    block: BlockHeader;
    /** The backfill that read the block; omitted if it was read while following the chain. */
    jobId?: string;
    unverified: Unverified;
    now: number;
  },
): Promise<void> {
  if (reading === undefined) return;
  if (!isUncertain && !(await hasHeld(trx, chain, block))) return;
  await trx
    .insertInto('uncertain')
    .values({
      chain,
      block_number: block.number,
      block_hash: block.hash,
      job_id: jobId,
      parent_hash: block.parentHash,
      block_timestamp: block.timestamp,
      codes: codes.join(', '),
      step: 0,
      accepted_at: now,
      due_at: now + reading.dueInMs,
      left_at: null,
      needs: JSON.stringify(reading.needs),
      records: reading.records,
    })
    // A block that returned already has its row again.
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function hasHeld(trx: Db, chain: string, { number, hash }: BlockRef): Promise<boolean> {
  const found = await sql`select 1 where ${isHeld(chain, number, hash)}`.execute(trx);
  return found.rows.length > 0;
}

/**
 * Continues the readings of a block that left the chain and returned. Its restored matches have the
 * records of earlier readings, so the block is read again even if it is certain now.
 */
export async function restoreUncertain(
  trx: Db,
  {
    chain,
    block,
    unverified,
    now,
  }: { chain: string; block: BlockRef; unverified: Unverified | undefined; now: number },
): Promise<void> {
  const dueInMs = unverified?.reading?.dueInMs ?? 0;
  await trx
    .updateTable('uncertain')
    .set({ left_at: null, accepted_at: now, due_at: now + dueInMs })
    .where('chain', '=', chain)
    .where('block_hash', '=', block.hash)
    .where('left_at', 'is not', null)
    .execute();
}

/**
 * Stops the readings of the blocks above the ancestor. They are continued if their block returns,
 * because its matches are restored then.
 */
export async function rewindUncertain(
  trx: Db,
  chain: string,
  { number }: BlockRef,
  now: number,
): Promise<void> {
  await trx
    .deleteFrom('uncertain')
    .where('chain', '=', chain)
    .where('left_at', '<', now - KEEP_LEFT_MS)
    .execute();
  await trx
    .updateTable('uncertain')
    .set({ left_at: now })
    .where('chain', '=', chain)
    .where('block_number', '>', number)
    .where('left_at', 'is', null)
    .execute();
}

/** Ends all later readings of a chain that is restarted. */
export async function restartUncertain(trx: Db, chain: string): Promise<void> {
  await trx.deleteFrom('uncertain').where('chain', '=', chain).execute();
}
