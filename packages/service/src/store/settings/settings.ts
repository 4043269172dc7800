/** Settings of the ledger: strings by name. */
import type { Kysely } from 'kysely';
import type { Ledger } from '../live/effects.ts';
import type { Db, Tables } from '../tables/tables.ts';
import type { SettingReads, SettingWrites } from './contract.ts';

export const createSettingReads = (db: Kysely<Tables>): SettingReads => ({
  async readSetting(key) {
    const row = await db
      .selectFrom('setting')
      .select('value')
      .where('key', '=', key)
      .executeTakeFirst();
    return row?.value;
  },
});

export function createSettingWrites({ db, transact }: Ledger): SettingWrites {
  const save = async (on: Db, key: string, value: string): Promise<void> => {
    await on
      .insertInto('setting')
      .values({ key, value })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
      .execute();
  };
  return {
    saveSetting: (key, value) =>
      transact(async (trx, effects) => {
        await save(trx, key, value);
        effects.signal('settings');
      }),

    checkWritable: () => save(db, 'writableAt', String(Date.now())),

    async keepSetting(key, value) {
      const row = await db
        .insertInto('setting')
        .values({ key, value })
        // On a conflict, updates the row without changing it, because `do nothing` would return no
        // row.
        .onConflict((conflict) => conflict.column('key').doUpdateSet({ key }))
        .returning('value')
        .executeTakeFirstOrThrow();
      return row.value;
    },

    replaceSetting: (key, before, value) =>
      transact(async (trx, effects) => {
        const row =
          before === undefined
            ? await trx
                .insertInto('setting')
                .values({ key, value })
                .onConflict((conflict) => conflict.column('key').doNothing())
                .returning('key')
                .executeTakeFirst()
            : await trx
                .updateTable('setting')
                .set({ value })
                .where('key', '=', key)
                .where('value', '=', before)
                .returning('key')
                .executeTakeFirst();
        if (row !== undefined) effects.signal('settings');
        return row !== undefined;
      }),
  };
}
