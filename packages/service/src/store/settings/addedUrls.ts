/** Stores the URLs of nodes and alert receivers that were added while the service ran. */
import type { Kysely } from 'kysely';
import { readNow } from '../engine/engine.ts';
import type { Ledger } from '../live/effects.ts';
import type { Db, Tables } from '../tables/tables.ts';
import type { AddedUrl, AddedUrlReads, AddedUrlWrites } from './contract.ts';

async function listUrls(db: Db): Promise<AddedUrl[]> {
  const rows = await db
    .selectFrom('added_url')
    .selectAll()
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(({ created_at: createdAt, ...row }) => ({ ...row, createdAt }));
}

export const createAddedUrlReads = (db: Kysely<Tables>): AddedUrlReads => ({
  listAddedUrls: () => listUrls(db),
});

export const createAddedUrlWrites = ({ db, engine, transact }: Ledger): AddedUrlWrites => ({
  addUrl: (added, existing) =>
    transact(async (trx, effects) => {
      await engine.lock(trx, 'added urls');
      const ids = (await listUrls(trx)).map(({ id }) => id);
      if (ids.join() !== existing.join()) return undefined;
      const createdAt = await readNow(engine, trx);
      await trx
        .insertInto('added_url')
        .values({ ...added, created_at: createdAt })
        .execute();
      effects.signal('settings');
      return { ...added, createdAt };
    }),

  removeUrl: (id) =>
    transact(async (trx, effects) => {
      await trx.deleteFrom('alert').where('receiver', '=', id).execute();
      const removed = await trx.deleteFrom('added_url').where('id', '=', id).executeTakeFirst();
      effects.signal('settings');
      return removed.numDeletedRows > 0n;
    }),

  async resealUrl({ id, sealed }) {
    await db.updateTable('added_url').set({ sealed }).where('id', '=', id).execute();
  },
});
