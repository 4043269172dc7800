/** Leases of tasks that one process at a time performs; their epochs fence off earlier holders. */
import { type Kysely, sql } from 'kysely';
import type { Db, Tables } from '../engine/tables.ts';
import { type Engine, readNow } from '../engine/engine.ts';
import type { ChainReport, LeaseReads, LeaseWrites } from './contract.ts';

export const createLeaseReads = (db: Kysely<Tables>, engine: Engine): LeaseReads => ({
  async listLeases() {
    const { rows } = await sql<Tables['lease'] & { now: number }>`
      select lease.*, ${engine.now()} as now from lease order by name`.execute(db);
    return rows.map(({ name, holder, until, report, now }) => ({
      name,
      holder,
      freeForMs: Math.max(0, now - until),
      report: report === null ? null : (JSON.parse(report) as ChainReport),
    }));
  },
});

export function createLeaseWrites(db: Kysely<Tables>, engine: Engine): LeaseWrites {
  return {
    async takeLease({ name, holder, forMs, force = false }) {
      return db.transaction().execute(async (trx) => {
        await trx
          .insertInto('lease')
          .values({ name, holder, epoch: 0, until: 0, report: null })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        // Waits for the holder's current write, so that none comes after the new epoch.
        const { rows } = await sql<{ epoch: number; until: number }>`
          select epoch, until from lease where name = ${name} ${
            engine.name === 'postgres' ? sql`for update` : sql``
          }`.execute(trx);
        const now = await readNow(engine, trx);
        const { epoch, until } = rows[0]!;
        if (until > now && !force) return undefined;
        await trx
          .updateTable('lease')
          .set({ holder, epoch: epoch + 1, until: now + forMs })
          .where('name', '=', name)
          .execute();
        return epoch + 1;
      });
    },

    async renewLease({ name, epoch, forMs, report }) {
      const { numUpdatedRows } = await db
        .updateTable('lease')
        .set({
          until: (await readNow(engine, db)) + forMs,
          report: report === null ? null : JSON.stringify(report),
        })
        .where('name', '=', name)
        .where('epoch', '=', epoch)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async giveUpLease({ name, epoch }) {
      await db
        .updateTable('lease')
        .set({ until: await readNow(engine, db) })
        .where('name', '=', name)
        .where('epoch', '=', epoch)
        .execute();
    },

    async endLeases() {
      await db.updateTable('lease').set({ until: 0 }).execute();
    },
  };
}

/**
 * Returns whether this epoch is the newest one of the lease, and locks it until the transaction
 * ends. Renewals do not wait for this lock, because `for key share` conflicts only with `for
 * update`.
 */
export async function holdsLease(
  trx: Db,
  engine: Engine,
  name: string,
  epoch: number,
): Promise<boolean> {
  const { rows } = await sql`
    select epoch from lease where name = ${name} and epoch = ${epoch} ${
      engine.name === 'postgres' ? sql`for key share` : sql``
    }`.execute(trx);
  return rows.length > 0;
}
