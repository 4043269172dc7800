import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../engine/tables.ts';
import type { Engine } from '../engine/engine.ts';
import type { BlockHeader, BlockRef } from '../blocks/contract.ts';
import type { EffectiveFrom } from './contract.ts';

/**
 * Raises the revision and locks the rules for the rest of the transaction. Block commits wait for
 * it.
 */
export async function raiseRevision(trx: Db): Promise<number> {
  const row = await trx
    .updateTable('rule_revision')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .returning('revision')
    .executeTakeFirstOrThrow();
  return row.revision;
}

/** Prevents changes of the rules for the rest of the transaction, and returns their revision. */
export async function lockRevision(trx: Db, engine: Engine): Promise<number> {
  const { rows } = await sql<{ revision: number }>`
    select revision from rule_revision ${engine.name === 'postgres' ? sql`for share` : sql``}`.execute(
    trx,
  );
  return rows[0]!.revision;
}

/** Values for a checkpoint that moves. The rules of the next block are not settled yet. */
export const UNSETTLED = {
  settled_number: null,
  settled_version: null,
  settled_revision: null,
} as const;

/**
 * Returns the lowest revision of rules that the block may be matched with, and settles the current
 * one for a block with older rules; undefined if the block does not follow the chain's checkpoint.
 * Must be called after {@link lockRevision}.
 */
export async function settleRules(
  trx: Db,
  {
    chain,
    after,
    block,
    revision,
    ruleRevision,
  }: {
    chain: string;
    after: BlockRef;
    block: BlockHeader;
    /** Current revision of the ledger. */
    revision: number;
    /** Revision of the rules that the block was matched with. */
    ruleRevision: number;
  },
): Promise<number | undefined> {
  const checkpoint = await trx
    .selectFrom('checkpoint')
    .select(['settled_number', 'settled_revision'])
    .where('chain', '=', chain)
    .where('number', '=', after.number)
    .where('hash', '=', after.hash)
    .executeTakeFirst();
  if (checkpoint === undefined) return undefined;
  const { settled_number: settled, settled_revision: settledAt } = checkpoint;
  if (settled !== null && settled >= block.number) return settledAt!;
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

/**
 * Expression for the last block after a row of `checkpoint` that may commit without the new rules.
 */
export const lastSettled: RawBuilder<number> = sql<number>`coalesce(settled_number, number)`;

/**
 * Returns the first block of each chain that a change applies to; on Aptos, the first ledger
 * version. Must be called after {@link raiseRevision}.
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
