import type { Db } from './engine.ts';
import type { EffectiveFrom } from './store.ts';

/** Locks the rules for the rest of the transaction: block commits wait for it and then match again. */
export async function raiseRevision(trx: Db): Promise<number> {
  const row = await trx
    .updateTable('rule_revision')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .returning('revision')
    .executeTakeFirstOrThrow();
  return row.revision;
}

/**
 * After `raiseRevision`: the first block of each chain that cannot be committed with older rules; of an
 * Aptos chain the first ledger version.
 */
export async function readEffectiveFrom(trx: Db, chainIds: string[]): Promise<EffectiveFrom> {
  const rows = await trx
    .selectFrom('checkpoint')
    .select(['chain', 'number', 'version'])
    .where('chain', 'in', chainIds)
    .execute();
  return Object.fromEntries(rows.map((row) => [row.chain, (row.version ?? row.number) + 1]));
}
