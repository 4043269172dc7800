/**
 * Cleans up after address changes: abandoned or old changes, and rows that are no longer visible.
 */
import { type Kysely, sql } from 'kysely';
import { type Engine, readNow } from '../engine/engine.ts';
import type { Tables } from '../tables/tables.ts';
import { deleteDead, isInPart, selectParts } from './addressStaging.ts';

/** Maximum number of rows of a deleted stream that one transaction deletes. */
const CLEAN_UP_ROWS = 5_000;
const EXPIRED_PARTS = 50;

/**
 * Undoes one part of an abandoned change, and returns true. If no part is left, deletes the change
 * and returns false.
 */
export async function undoPart(
  db: Kysely<Tables>,
  engine: Engine,
  change: number,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const part = await selectParts(trx)
      .where('change_id', '=', change)
      .where('change.state', '=', 'abandoned')
      .limit(1)
      .executeTakeFirst();
    if (part === undefined) {
      await trx
        .deleteFrom('address_change')
        .where('id', '=', change)
        .where('state', '=', 'abandoned')
        .execute();
      return false;
    }
    await sql`
      delete from stream_address where ${isInPart(engine, part)} and added_by = ${change}`.execute(
      trx,
    );
    await sql`
      update stream_address set removed_by = null
      where ${isInPart(engine, part)} and removed_by = ${change}`.execute(trx);
    await trx
      .deleteFrom('address_change_part')
      .where('change_id', '=', change)
      .where('part', '=', part.part)
      .execute();
    return true;
  });
}

export async function deleteSomeDead(db: Kysely<Tables>, engine: Engine): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const part = await selectParts(trx)
      .where('part.dead', '>', 0)
      .where('change.state', '=', 'active')
      .limit(1)
      .executeTakeFirst();
    if (part === undefined) return false;
    await deleteDead(trx, engine, part);
    return true;
  });
}

/**
 * Deletes some addresses of one deleted stream, and returns true. Returns false if no deleted stream
 * has addresses.
 */
export async function cleanUpDeletedStreams(db: Kysely<Tables>, engine: Engine): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const stream = await trx
      .selectFrom('stream')
      .select('id')
      .where('deleted_at', 'is not', null)
      .where('address_count', '>', 0)
      .limit(1)
      .executeTakeFirst();
    if (stream === undefined) return false;
    const deleted = await sql`
      delete from stream_address where stream_id = ${stream.id} and address ${engine.isIn(sql`
        select address from stream_address where stream_id = ${stream.id}
        limit ${CLEAN_UP_ROWS}`)}`.execute(trx);
    if (deleted.numAffectedRows === 0n) {
      await trx
        .updateTable('stream')
        .set({ address_count: 0 })
        .where('id', '=', stream.id)
        .execute();
    }
    return true;
  });
}

/**
 * Deletes some parts of old changes; returns false if there are none. Matchers that have not read
 * these parts read the complete lists.
 */
export async function expireParts(
  db: Kysely<Tables>,
  engine: Engine,
  keepMs: number,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const before = (await readNow(engine, trx)) - keepMs;
    const parts = await trx
      .selectFrom('address_change as change')
      .innerJoin('address_change_part as part', 'change.id', 'part.change_id')
      .select(['change.revision', 'part.change_id', 'part.part'])
      .where('change.state', '=', 'active')
      .where('change.touched_at', '<=', before)
      .orderBy('change.revision')
      .limit(EXPIRED_PARTS)
      .execute();
    const newest = parts.at(-1);
    if (newest === undefined) return false;
    await trx
      .updateTable('rule_revision')
      .set({ trimmed: newest.revision! })
      .where('trimmed', '<', newest.revision!)
      .execute();
    for (const { change_id: change, part } of parts) {
      await trx
        .deleteFrom('address_change_part')
        .where('change_id', '=', change)
        .where('part', '=', part)
        .execute();
    }
    await trx
      .deleteFrom('address_change')
      .where('id', 'in', [...new Set(parts.map((part) => part.change_id))])
      .where('id', 'not in', trx.selectFrom('address_change_part').select('change_id'))
      .execute();
    return true;
  });
}
