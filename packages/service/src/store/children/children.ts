/**
 * Reads and writes the children of factories. They change only in the transactions that move the
 * checkpoint of their chain, so the ledger always has exactly the children up to the checkpoint.
 */
import { type Kysely, type SqlBool, sql } from 'kysely';
import { packAddresses } from '../addresses/packedAddresses.ts';
import type { Engine } from '../engine/engine.ts';
import type { Ledger } from '../live/effects.ts';
import type { Db, Tables } from '../tables/tables.ts';
import { isSought } from '../rows/addressSearch.ts';
import { IS_LISTED } from '../rows/listedAddress.ts';
import { count } from './childRows.ts';
import type { ChildListRef, ChildReads, ChildWrites, LabeledChild } from './contract.ts';

const CHILDREN_PER_PAGE = 20_000;
/** Maximum number of rows that one transaction deletes. */
const CLEAN_UP_ROWS = 5_000;

const toLabeledChild = (row: LabeledRow): LabeledChild => ({
  streamId: row.stream_id,
  chain: row.chain,
  factory: row.factory,
  address: row.address,
  blockNumber: row.block_number,
  label: row.label,
});
type LabeledRow = Tables['child'] & { label: string | null };

/** Children with their labels. An address that the stream also lists may have a label of its own. */
const LABELED = sql`
  (select child.*, coalesce(its.label, child_label.label) as label from child
    left join child_label
      on child_label.stream_id = child.stream_id and child_label.address = child.address
    left join stream_address as its
      on its.stream_id = child.stream_id and its.address = child.address and ${IS_LISTED}) as labeled`;

export const createChildReads = (db: Kysely<Tables>, engine: Engine): ChildReads => ({
  async listChildCounts(streamId) {
    const rows = await db
      .selectFrom('child_list')
      .select(['chain', 'factory', 'children'])
      .where('stream_id', '=', streamId)
      .where('children', '>', 0)
      .execute();
    return rows.map((row) => ({ streamId, ...row }));
  },

  async listChildren(list, { limit, after = '', find }) {
    const { rows } = await sql<LabeledRow>`
      select * from ${LABELED} where ${isIn(list)} and address > ${after}
        ${find === undefined ? sql`` : sql`and ${isSought(find)}`}
      order by address limit ${limit}`.execute(db);
    return rows.map(toLabeledChild);
  },

  async countChildren(list, find) {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${LABELED} where ${isIn(list)} and ${isSought(find)}`.execute(
      db,
    );
    return rows[0]!.count;
  },

  async countChildrenByChain() {
    const { rows } = await sql<{ chain: string; children: number }>`
      select chain, cast(sum(children) as bigint) as children from child_list
      group by chain`.execute(db);
    return Object.fromEntries(rows.map(({ chain, children }) => [chain, children]));
  },

  async listParents(address) {
    const { rows } = await sql<LabeledRow>`
      select * from ${LABELED} where address = ${address}`.execute(db);
    return rows.map(toLabeledChild);
  },

  async readChildren({ streamId, chain, factory }, after = '') {
    const rows = await db
      .selectFrom('child')
      .select('address')
      .where('stream_id', '=', streamId)
      .where('chain', '=', chain)
      .where('factory', '=', factory)
      .where('address', '>', after)
      .orderBy('address')
      .limit(CHILDREN_PER_PAGE)
      .execute();
    return {
      addresses: packAddresses(rows.map(({ address }) => address)),
      next: rows.length === CHILDREN_PER_PAGE ? rows.at(-1)?.address : undefined,
    };
  },

  async findChildren(chain, { addresses, upTo, streamId }) {
    const { rows } = await sql<Tables['child']>`
      select stream_id, factory, address, block_number from child
      where address ${engine.isIn(sql`select address from ${engine.texts(addresses, 'address')} as sought`)}
        and chain = ${chain} and block_number <= ${upTo}
        ${streamId === undefined ? sql`` : sql`and stream_id = ${streamId}`}`.execute(db);
    return rows.map(({ stream_id, factory, address, block_number }) => ({
      streamId: stream_id,
      factory,
      address,
      blockNumber: block_number,
    }));
  },
});

const isIn = ({ streamId, chain, factory }: ChildListRef) => sql<SqlBool>`
  stream_id = ${streamId} and chain = ${chain} and factory = ${factory}`;

export const createChildWrites = ({ db, engine }: Ledger): ChildWrites => {
  /** Deletes some children of a stream that meet the condition; returns whether there were any. */
  const deleteSome = async (trx: Db, streamId: string, which = sql`true`): Promise<boolean> => {
    const { rows } = await sql<Pick<Tables['child'], 'chain' | 'factory' | 'address'>>`
      delete from child where stream_id = ${streamId} and (chain, factory, address) in (
        select chain, factory, address from child where stream_id = ${streamId} and ${which}
        limit ${CLEAN_UP_ROWS})
      returning chain, factory, address`.execute(trx);
    if (rows.length === 0) return false;
    await count(
      trx,
      engine,
      rows.map(({ chain, factory }) => ({ streamId, chain, factory })),
      -1,
    );
    const addresses = rows.map(({ address }) => address);
    await sql`
      delete from child_label where stream_id = ${streamId}
        and address in (select address from ${engine.texts(addresses, 'address')} as deleted)
        and not exists (select 1 from child where child.stream_id = ${streamId}
          and child.address = child_label.address)`.execute(trx);
    return true;
  };

  const deleteOf = async (
    trx: Db,
    streamId: string,
    factories: readonly string[],
  ): Promise<boolean> => {
    const listed = sql`(select factory from ${engine.texts(factories, 'factory')} as listed)`;
    if (await deleteSome(trx, streamId, sql`factory in ${listed}`)) return true;
    for (const table of ['left_factory', 'child_list'] as const) {
      await sql`
        delete from ${sql.table(table)}
        where stream_id = ${streamId} and factory in ${listed}`.execute(trx);
    }
    return false;
  };

  return {
    labelChildren: (streamId, labels) =>
      db.transaction().execute(async (trx) => {
        const addresses = Object.keys(labels);
        const { rows } = await sql<{ address: string }>`
          select address from ${engine.texts(addresses, 'address')} as given
          where not exists (select 1 from child
            where child.address = given.address and stream_id = ${streamId}) limit 1`.execute(trx);
        if (rows[0] !== undefined) return { missing: rows[0].address };
        await sql`
          delete from child_label where stream_id = ${streamId}
            and address in (select address from ${engine.texts(addresses, 'address')} as given)`.execute(
          trx,
        );
        const added = Object.entries(labels).filter(([, label]) => label !== '');
        if (added.length > 0) {
          await trx
            .insertInto('child_label')
            .values(added.map(([address, label]) => ({ stream_id: streamId, address, label })))
            .execute();
        }
        return { missing: undefined };
      }),

    async cleanUpChildren() {
      return db.transaction().execute(async (trx) => {
        const { rows } = await sql<{ id: string }>`
          select id from stream where deleted_at is not null
            and exists (select 1 from child_list where stream_id = stream.id) limit 1`.execute(trx);
        if (rows[0] !== undefined) {
          const { id } = rows[0];
          if (await deleteSome(trx, id)) return true;
          await trx.deleteFrom('child_list').where('stream_id', '=', id).execute();
          await trx.deleteFrom('child_label').where('stream_id', '=', id).execute();
          return true;
        }
        const left = await trx.selectFrom('left_factory').selectAll().limit(1).execute();
        if (left[0] === undefined) return false;
        await deleteOf(trx, left[0].stream_id, [left[0].factory]);
        return true;
      });
    },

    deleteChildrenOf: (streamId, factories) =>
      db.transaction().execute((trx) => deleteOf(trx, streamId, factories)),
  };
};

/** Records that factories were removed from a stream, so that their children are deleted. */
export async function recordLeftFactories(
  trx: Db,
  streamId: string,
  factories: readonly string[],
): Promise<void> {
  if (factories.length === 0) return;
  await trx
    .insertInto('left_factory')
    .values(factories.map((factory) => ({ stream_id: streamId, factory })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
