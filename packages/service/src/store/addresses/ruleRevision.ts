import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../engine/tables.ts';
import type { Engine } from '../engine/engine.ts';
import type { BlockHeader, BlockRef } from '../blocks/contract.ts';
import type { EffectiveFrom } from './contract.ts';

/** Locks the rules for the rest of the transaction; block commits wait for it. */
export async function raiseRevision(trx: Db): Promise<number> {
  const row = await trx
    .updateTable('rule_revision')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .returning('revision')
    .executeTakeFirstOrThrow();
  return row.revision;
}

/** Keeps the rules as they are for the rest of the transaction, and returns their revision. */
export async function holdRevision(trx: Db, engine: Engine): Promise<number> {
  const { rows } = await sql<{ revision: number }>`
    select revision from rule_revision ${engine.name === 'postgres' ? sql`for share` : sql``}`.execute(
    trx,
  );
  return rows[0]!.revision;
}

/** Values of a checkpoint that moves: the next block's rules are not settled yet. */
export const UNSETTLED = {
  settled_number: null,
  settled_version: null,
  settled_revision: null,
} as const;

/**
 * The revision whose rules a block must at least be matched with; undefined when the chain's checkpoint is
 * not the one it follows. Where the block was matched with older rules, this settles them: changes from now
 * on are promised from the block after it. Call it after {@link holdRevision}.
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
    /** Of the ledger. */
    revision: number;
    /** Of the rules that the block was matched with. */
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

/** The last block of a row of `checkpoint` that may commit without a change of rules made now. */
export const lastSettled: RawBuilder<number> = sql<number>`coalesce(settled_number, number)`;

/**
 * The first block of each chain that a change applies to; of an Aptos chain the first ledger version.
 * Call it after {@link raiseRevision}.
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
