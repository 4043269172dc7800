/** Settings of the ledger: strings by name. */
import type { Kysely } from 'kysely';
import type { Tables } from '../tables/tables.ts';
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

export function createSettingWrites(db: Kysely<Tables>): SettingWrites {
  const saveSetting: SettingWrites['saveSetting'] = async (key, value) => {
    await db
      .insertInto('setting')
      .values({ key, value })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
      .execute();
  };
  return {
    saveSetting,
    checkWritable: () => saveSetting('writableAt', String(Date.now())),

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

    async replaceSetting(key, before, value) {
      const row =
        before === undefined
          ? await db
              .insertInto('setting')
              .values({ key, value })
              .onConflict((conflict) => conflict.column('key').doNothing())
              .returning('key')
              .executeTakeFirst()
          : await db
              .updateTable('setting')
              .set({ value })
              .where('key', '=', key)
              .where('value', '=', before)
              .returning('key')
              .executeTakeFirst();
      return row !== undefined;
    },
  };
}
