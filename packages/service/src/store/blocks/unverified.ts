/** Blocks that were accepted although not everything about them could be verified. */
import type { Kysely } from 'kysely';
import type { UnverifiedBlocks, UnverifiedRange } from '@sluice/kit/contract';
import type { Db, Tables } from '../engine/tables.ts';
import { newId } from '../ids.ts';

/** The newest ranges kept per chain. */
const RANGES = 1_000;

/**
 * Records nothing if the block is already recorded for this reason. Consecutive blocks form one
 * range.
 */
export async function recordUnverified(
  trx: Db,
  { chain, number, reason, now }: { chain: string; number: number; reason: string; now: number },
): Promise<void> {
  const near = await trx
    .selectFrom('unverified')
    .select(['id', 'to_block'])
    .where('chain', '=', chain)
    .where('reason', '=', reason)
    .where('from_block', '<=', number)
    .where('to_block', '>=', number - 1)
    .orderBy('to_block', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (near !== undefined) {
    if (near.to_block >= number) return;
    await trx
      .updateTable('unverified')
      .set({ to_block: number })
      .where('id', '=', near.id)
      .execute();
    return;
  }
  await trx
    .insertInto('unverified')
    .values({
      id: newId(now),
      chain,
      from_block: number,
      to_block: number,
      reason,
      created_at: now,
    })
    .execute();
  await trx
    .deleteFrom('unverified')
    .where('chain', '=', chain)
    .where('id', '<=', (eb) =>
      eb
        .selectFrom('unverified')
        .select('id')
        .where('chain', '=', chain)
        .orderBy('id', 'desc')
        .offset(RANGES)
        .limit(1),
    )
    .execute();
}

/** Drops blocks above this one, which left the chain. */
export async function rewindUnverified(trx: Db, chain: string, block: number): Promise<void> {
  await trx
    .deleteFrom('unverified')
    .where('chain', '=', chain)
    .where('from_block', '>', block)
    .execute();
  await trx
    .updateTable('unverified')
    .set({ to_block: block })
    .where('chain', '=', chain)
    .where('to_block', '>', block)
    .execute();
}

/** Returns the unverified ranges of these chains by chain, in block order. */
export async function listUnverified(
  db: Kysely<Tables>,
  chains: readonly string[],
): Promise<Map<string, UnverifiedRange[]>> {
  const rows = await db
    .selectFrom('unverified')
    .select(['chain', 'from_block', 'to_block', 'reason'])
    .where('chain', 'in', chains)
    .orderBy('from_block')
    .execute();
  const found = Map.groupBy(rows, ({ chain }) => chain);
  return new Map(
    [...found].map(([chain, ranges]) => [
      chain,
      ranges.map(({ from_block: from, to_block: to, reason }) => ({ from, to, reason })),
    ]),
  );
}

/** Returns null for a chain without unverified blocks. */
export async function readUnverified(
  db: Kysely<Tables>,
  chain: string,
): Promise<UnverifiedBlocks | null> {
  const ranges = (await listUnverified(db, [chain])).get(chain);
  if (ranges === undefined) return null;
  const { to: latest, reason } = ranges.reduce((a, b) => (b.to >= a.to ? b : a));
  return { blocks: ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0), latest, reason };
}
