/**
 * Leases of tasks that only one process performs at a time, and the processes that read chains.
 * Epochs prevent writes by former holders.
 */
import { type Kysely, sql } from 'kysely';
import type { Db, Tables } from '../tables/tables.ts';
import { type Engine, readNow } from '../engine/engine.ts';
import type { Ledger } from '../live/effects.ts';
import { continueIdsAfter } from '../rows/ids.ts';
import type { ChainReport, LeaseReads, LeaseWrites } from './contract.ts';

/** Milliseconds until a reader is deleted after its registration expires. */
const GONE_MS = 60_000;

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

  async readSharing() {
    const { rows: readers } = await sql<Tables['reader'] & { now: number }>`
      select reader.*, ${engine.now()} as now from reader
      where until > ${engine.now()} order by id`.execute(db);
    const { rows: held } = await sql<{ name: string; holder: string }>`
      select name, holder from lease where until > ${engine.now()}`.execute(db);
    return {
      readers: readers.map(({ id, chains, joined_at: joinedAt, now }) => ({
        id,
        chains: JSON.parse(chains) as string[],
        joinedForMs: now - joinedAt,
      })),
      holders: new Map(held.map(({ name, holder }) => [name, holder])),
    };
  },
});

export function createLeaseWrites({ db, engine, transact }: Ledger): LeaseWrites {
  return {
    async takeLease({ name, holder, forMs, force = false }) {
      return transact(async (trx, effects) => {
        await trx
          .insertInto('lease')
          .values({ name, holder, epoch: 0, until: 0, report: null })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        // Waits for the holder's current write, so that none of its writes follows the new epoch.
        const { rows } = await sql<{ epoch: number; until: number }>`
          select epoch, until from lease where name = ${name}
          ${engine.lockRows('update')}`.execute(trx);
        const now = await readNow(engine, trx);
        const { epoch, until } = rows[0]!;
        if (until > now && !force) return undefined;
        await trx
          .updateTable('lease')
          .set({ holder, epoch: epoch + 1, until: now + forMs })
          .where('name', '=', name)
          .execute();
        // The previous holder's clock may have been ahead, and later deliveries must sort later.
        const newest = await trx
          .selectFrom('delivery')
          .select((of) => of.fn.max('id').as('id'))
          .executeTakeFirst();
        if (newest?.id != null) continueIdsAfter(newest.id);
        effects.signal('leases');
        return epoch + 1;
      });
    },

    async renewLeases(leases, forMs) {
      await engine.followClock(db);
      const renewed = engine.rows(
        leases.map(({ name, epoch, report }) => ({
          name,
          epoch,
          report: report === null ? null : JSON.stringify(report),
        })),
        { name: 'text', epoch: 'bigint', report: 'text' },
      );
      const { rows } = await sql<{ name: string }>`
        update lease set until = ${engine.now()} + ${forMs}, report = renewed.report
        from ${renewed} as renewed
        where lease.name = renewed.name and lease.epoch = renewed.epoch
        returning lease.name as name`.execute(db);
      return rows.map(({ name }) => name);
    },

    async giveUpLease({ name, epoch }) {
      await transact(async (trx, effects) => {
        await trx
          .updateTable('lease')
          .set({ until: await readNow(engine, trx) })
          .where('name', '=', name)
          .where('epoch', '=', epoch)
          .execute();
        effects.signal('leases');
      });
    },

    async joinReaders({ id, chains, forMs }) {
      const now = await readNow(engine, db);
      const its = { chains: JSON.stringify(chains), until: now + forMs };
      await db
        .insertInto('reader')
        .values({ id, joined_at: now, ...its })
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet({
            ...its,
            joined_at: sql<number>`case when reader.until < ${now} then ${now} else reader.joined_at end`,
          }),
        )
        .execute();
      await db
        .deleteFrom('reader')
        .where('until', '<', now - GONE_MS)
        .execute();
    },

    async leaveReaders(id) {
      await transact(async (trx, effects) => {
        await trx.deleteFrom('reader').where('id', '=', id).execute();
        effects.signal('leases');
      });
    },

    async endLeases() {
      await db.updateTable('lease').set({ until: 0 }).execute();
      await db.deleteFrom('reader').execute();
    },
  };
}

/**
 * Returns whether this epoch is the newest of the lease, and locks the lease until the transaction
 * ends. Renewals do not wait for this lock, because `key share` conflicts only with `update`.
 */
export async function holdsLease(
  trx: Db,
  engine: Engine,
  name: string,
  epoch: number,
): Promise<boolean> {
  const { rows } = await sql`
    select epoch from lease where name = ${name} and epoch = ${epoch} 
    ${engine.lockRows('key share')}`.execute(trx);
  return rows.length > 0;
}
