/** The revision of the rules that all streams match, and the blocks that its changes apply to. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../tables/tables.ts';

/**
 * The first block of each chain to which a rule change applies; on Aptos, the first ledger version.
 */
export type EffectiveFrom = Record<string, number>;

/**
 * Raises the revision of the rules, locks it for the rest of the transaction, and returns it. Block
 * commits wait for the lock.
 */
export async function raiseRevision(trx: Db): Promise<number> {
  const row = await trx
    .updateTable('rule_revision')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .returning('revision')
    .executeTakeFirstOrThrow();
  return row.revision;
}

/** The block whose rules are settled, and their revision; both null if none is settled. */
export interface SettledRules {
  number: number | null;
  revision: number | null;
}

/**
 * Column values for a checkpoint that has moved: no rule revision is settled for the next block
 * yet.
 */
export const UNSETTLED = {
  settled_number: null,
  settled_version: null,
  settled_revision: null,
} as const;

/**
 * Returns the lowest rule revision with which the block may commit. If no revision is settled for
 * the block yet and it was matched with older rules, settles the current revision for it. The
 * revision must be locked.
 */
export async function settleRules(
  trx: Db,
  {
    chain,
    block,
    settled,
    revision,
    ruleRevision,
  }: {
    chain: string;
    block: { number: number; lastVersion?: number | undefined };
    /** The settled block of the chain's checkpoint, from which the block continues. */
    settled: SettledRules;
    /** Current rule revision of the ledger. */
    revision: number;
    /** Revision of the rules that the block was matched with. */
    ruleRevision: number;
  },
): Promise<number> {
  if (settled.number !== null && settled.number >= block.number) return settled.revision!;
  if (ruleRevision === revision) return revision;
  await trx
    .updateTable('checkpoint')
    .set({
      settled_number: block.number,
      settled_version: block.lastVersion ?? null,
      settled_revision: revision,
    })
    .where('chain', '=', chain)
    .execute();
  return revision;
}

/** SQL expression on `checkpoint`: the last block to which new rules do not apply. */
export const lastSettled: RawBuilder<number> = sql<number>`coalesce(settled_number, number)`;

/**
 * For each chain, returns the first block to which a rule change applies; on Aptos, the first
 * ledger version. Omits chains without a checkpoint. Must be called after {@link raiseRevision}.
 */
export async function readEffectiveFrom(
  trx: Db,
  chainIds: readonly string[],
): Promise<EffectiveFrom> {
  const rows = await trx
    .selectFrom('checkpoint')
    .select(['chain', lastSettled.as('number')])
    .select(sql<number | null>`coalesce(settled_version, version)`.as('version'))
    .where('chain', 'in', chainIds)
    .execute();
  return Object.fromEntries(rows.map((row) => [row.chain, (row.version ?? row.number) + 1]));
}
