/**
 * Records the gaps of a chain for display: skipped blocks, restarts, halts, and blocks that were
 * passed over because no stream watched the chain.
 */
import { sql } from 'kysely';
import type { Db } from '../tables/tables.ts';
import { newId } from '../rows/ids.ts';
import type { BlockRef } from './contract.ts';
import type { GapTable } from '../tables/blocks.ts';

/** Number of gaps kept per chain. */
const GAPS = 100;

/**
 * Records the gap of a chain that restarts after `block`, and ends a halt. Does nothing for a new
 * chain.
 */
export async function recordRestart(
  trx: Db,
  {
    chain,
    block,
    holeFrom,
    why,
    now,
  }: { chain: string; block: BlockRef; holeFrom: number | undefined; why: string; now: number },
): Promise<void> {
  const before = await readCheckpoint(trx, chain);
  if (before === undefined) return;
  await endHalt(trx, chain, now);
  const from = holeFrom ?? 0;
  // No block was skipped if the chain continues where it stopped.
  if (from > block.number) return;
  await insert(trx, {
    chain,
    kind: holeFrom === undefined ? 'restarted' : 'skipped',
    from_block: from,
    to_block: block.number,
    reason: why,
    created_at: now,
    ended_at: now,
  });
}

/**
 * Records blocks that were passed over because no stream watched the chain. Extends the newest gap
 * if it ends where these blocks begin.
 */
export async function recordPassedOver(
  trx: Db,
  { chain, after, upTo, now }: { chain: string; after: number; upTo: number; now: number },
): Promise<void> {
  const newest = await readNewest(trx, chain);
  if (newest?.kind === 'passed-over' && newest.to_block === after) {
    await trx
      .updateTable('gap')
      .set({ to_block: upTo, ended_at: now })
      .where('id', '=', newest.id)
      .execute();
    return;
  }
  await insert(trx, {
    chain,
    kind: 'passed-over',
    from_block: after + 1,
    to_block: upTo,
    reason: 'no stream watched the chain',
    created_at: now,
    ended_at: now,
  });
}

/**
 * Records that the chain halted at the block after its checkpoint. If the chain has already halted,
 * only updates the reason.
 */
export async function recordHalt(
  trx: Db,
  { chain, why, now }: { chain: string; why: string; now: number },
): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('gap')
    .set({ reason: why })
    .where('chain', '=', chain)
    .where('kind', '=', 'halted')
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows > 0n) return;
  await insert(trx, {
    chain,
    kind: 'halted',
    from_block: ((await readCheckpoint(trx, chain)) ?? -1) + 1,
    to_block: null,
    reason: why,
    created_at: now,
    ended_at: null,
  });
}

export async function endHalt(trx: Db, chain: string, now: number): Promise<void> {
  await trx
    .updateTable('gap')
    .set({ ended_at: now })
    .where('chain', '=', chain)
    .where('kind', '=', 'halted')
    .where('ended_at', 'is', null)
    .execute();
}

async function insert(trx: Db, gap: Omit<GapTable, 'id'>): Promise<void> {
  await trx
    .insertInto('gap')
    .values({ id: newId(gap.created_at), ...gap })
    .execute();
  await sql`
    delete from gap where chain = ${gap.chain} and id not in (
      select id from gap where chain = ${gap.chain} order by id desc limit ${GAPS})`.execute(trx);
}

const readNewest = (trx: Db, chain: string) =>
  trx
    .selectFrom('gap')
    .select(['id', 'kind', 'to_block'])
    .where('chain', '=', chain)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

const readCheckpoint = async (trx: Db, chain: string): Promise<number | undefined> =>
  (
    await trx
      .selectFrom('checkpoint')
      .select('number')
      .where('chain', '=', chain)
      .executeTakeFirst()
  )?.number;
