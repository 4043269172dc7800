import { randomUUID } from 'node:crypto';
import { type Kysely, type Selectable, sql } from 'kysely';
import { type Db, type Engine, readNow } from './engine.ts';
import { streamColumns, toStreamRecord } from './rows.ts';
import type { EffectiveFrom, StreamDraft, StreamRecord, StreamWrites } from './store.ts';
import type { Tables } from './tables.ts';

/** What changes the rules: streams and their addresses. */
export function createStreamWrites(db: Kysely<Tables>, engine: Engine): StreamWrites {
  /** Locks the rules for the rest of the transaction: block commits wait for it and then match again. */
  const raiseRevision = async (trx: Db): Promise<number> => {
    const row = await trx
      .updateTable('rule_revision')
      .set((eb) => ({ revision: eb('revision', '+', 1) }))
      .returning('revision')
      .executeTakeFirstOrThrow();
    return row.revision;
  };

  const readEffectiveFrom = async (trx: Db, chainIds: string[]): Promise<EffectiveFrom> => {
    const rows = await trx
      .selectFrom('checkpoint')
      .select(['chain', 'number'])
      .where('chain', 'in', chainIds)
      .execute();
    return Object.fromEntries(rows.map((row) => [row.chain, row.number + 1]));
  };

  const findStream = async (trx: Db, id: string): Promise<StreamRecord | undefined> => {
    const row = await trx
      .selectFrom('stream')
      .select(streamColumns)
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .executeTakeFirst();
    return row && toStreamRecord(row);
  };

  const changeStream = async (
    id: string,
    values: (now: number) => Partial<Selectable<Tables['stream']>>,
    also?: (trx: Db, now: number) => Promise<unknown>,
  ): Promise<StreamRecord | undefined> =>
    db.transaction().execute(async (trx) => {
      const revision = await raiseRevision(trx);
      const now = await readNow(engine, trx);
      const row = await trx
        .updateTable('stream')
        .set({ ...values(now), revision, updated_at: now })
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .returning(streamColumns)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      await also?.(trx, now);
      return toStreamRecord(row);
    });

  const recountAddresses = async (trx: Db, id: string, now: number): Promise<void> => {
    const revision = await raiseRevision(trx);
    await trx
      .updateTable('stream')
      .set((eb) => ({
        revision,
        updated_at: now,
        address_count: eb
          .selectFrom('stream_address')
          .select(({ fn }) => fn.countAll<number>().as('n'))
          .where('stream_id', '=', id),
      }))
      .where('id', '=', id)
      .execute();
  };

  return {
    async saveSetting(key, value) {
      await db
        .insertInto('setting')
        .values({ key, value })
        .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
        .execute();
    },

    async createStream(draft) {
      return db.transaction().execute(async (trx) => {
        const revision = await raiseRevision(trx);
        const now = await readNow(engine, trx);
        const row = await trx
          .insertInto('stream')
          .values({
            ...toStreamValues(draft),
            id: randomUUID(),
            family: 'evm',
            status: 'active',
            status_message: 'Stream is active',
            error_since: null,
            address_count: 0,
            revision,
            created_at: now,
            updated_at: now,
            deleted_at: null,
          })
          .returning(streamColumns)
          .executeTakeFirstOrThrow();
        return toStreamRecord(row);
      });
    },

    updateStream: (id, patch) => changeStream(id, () => toStreamValues(patch)),

    setStreamStatus: (id, status, statusMessage) =>
      changeStream(id, () => ({ status, status_message: statusMessage })),

    deleteStream: (id) =>
      changeStream(
        id,
        (now) => ({ deleted_at: now }),
        async (trx, now) => {
          await trx
            .updateTable('delivery')
            .set({ state: 'cancelled', updated_at: now })
            .where('stream_id', '=', id)
            .where('state', '=', 'pending')
            .execute();
          await trx.deleteFrom('stream_address').where('stream_id', '=', id).execute();
        },
      ),

    async addAddresses(id, addresses) {
      return db.transaction().execute(async (trx) => {
        const stream = await findStream(trx, id);
        if (stream === undefined) return undefined;
        const now = await readNow(engine, trx);
        const objects = addresses.map((address) => ({ address }));
        await sql`
          insert into stream_address (stream_id, address, added_at)
          select ${id}, address, ${now} from ${engine.rows(objects, { address: 'text' })} as added
          where true on conflict do nothing`.execute(trx);
        await recountAddresses(trx, id, now);
        return readEffectiveFrom(trx, stream.chainIds);
      });
    },

    async removeAddresses(id, addresses) {
      return db.transaction().execute(async (trx) => {
        const stream = await findStream(trx, id);
        if (stream === undefined) return undefined;
        const wanted = engine.rows(
          addresses.map((address) => ({ address })),
          { address: 'text' },
        );
        const { rows: missing } = await sql<{ address: string }>`
          select wanted.address from ${wanted} as wanted
          where not exists (
            select 1 from stream_address
            where stream_id = ${id} and stream_address.address = wanted.address)
          limit 1`.execute(trx);
        if (missing[0] !== undefined) return { missing: missing[0].address };
        await sql`
          delete from stream_address
          where stream_id = ${id} and address in (select address from ${wanted} as wanted)`.execute(
          trx,
        );
        await recountAddresses(trx, id, await readNow(engine, trx));
        return readEffectiveFrom(trx, stream.chainIds);
      });
    },
  };
}

function toStreamValues<T extends Partial<StreamDraft>>(draft: T) {
  return {
    ...(draft.tag !== undefined && { tag: draft.tag }),
    ...(draft.description !== undefined && { description: draft.description }),
    ...(draft.webhookUrl !== undefined && { webhook_url: draft.webhookUrl }),
    ...(draft.chainIds !== undefined && { chain_ids: JSON.stringify(draft.chainIds) }),
    ...(draft.options !== undefined && { options: JSON.stringify(draft.options) }),
    ...(draft.deliver !== undefined && { deliver: draft.deliver }),
    ...(draft.notifyRemoved !== undefined && { notify_removed: Number(draft.notifyRemoved) }),
    ...(draft.headers !== undefined && { headers: JSON.stringify(draft.headers) }),
  } as T extends StreamDraft
    ? Pick<
        Selectable<Tables['stream']>,
        | 'tag'
        | 'description'
        | 'webhook_url'
        | 'chain_ids'
        | 'options'
        | 'deliver'
        | 'notify_removed'
        | 'headers'
      >
    : Partial<Selectable<Tables['stream']>>;
}
