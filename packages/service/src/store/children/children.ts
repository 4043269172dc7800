/**
 * Reads and writes the children of factories. They change only in the transactions that move the
 * checkpoint of their chain, so the ledger always has exactly the children up to the checkpoint.
 */
import { type CompiledQuery, type Kysely, type SqlBool, sql } from 'kysely';
import { packAddresses } from '../addresses/packedAddresses.ts';
import type { Engine } from '../engine/engine.ts';
import type { Ledger } from '../live/effects.ts';
import type { Db, Tables } from '../tables/tables.ts';
import { isSought } from '../rows/addressSearch.ts';
import type {
  Child,
  ChildFilter,
  ChildReads,
  ChildWrites,
  KnownChild,
  LabeledChild,
} from './contract.ts';

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

const LABELED = sql`
  (select child.*, label from child left join child_label
    on child_label.stream_id = child.stream_id and child_label.address = child.address) as labeled`;

export const createChildReads = (db: Kysely<Tables>, engine: Engine): ChildReads => ({
  async listChildren(filter, { limit, after }) {
    const { rows } = await sql<LabeledRow>`
      select * from ${LABELED} where ${isSelected(engine, filter)}
        ${after === undefined ? sql`` : sql`and (chain, factory, address) > (${after.chain}, ${after.factory}, ${after.address})`}
      order by chain, factory, address limit ${limit}`.execute(db);
    return rows.map(toLabeledChild);
  },

  async countChildren(filter) {
    const from = filter.find === undefined ? sql`child` : LABELED;
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${from} where ${isSelected(engine, filter)}`.execute(db);
    return rows[0]!.count;
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

const isSelected = (
  engine: Engine,
  { streamId, factories, chain, find }: ChildFilter,
) => sql<SqlBool>`
  stream_id = ${streamId}
  and factory in (select factory from ${engine.texts(factories, 'factory')} as listed)
  ${chain === undefined ? sql`` : sql`and chain = ${chain}`}
  ${find === undefined ? sql`` : sql`and ${isSought(find)}`}`;

export const createChildWrites = ({ db, engine }: Ledger): ChildWrites => {
  /** Deletes some rows of a stream that meet the condition; returns whether there were any. */
  const deleteSome = async (trx: Db, streamId: string, which = sql`true`): Promise<boolean> => {
    const { numAffectedRows = 0n } = await sql`
      delete from child where stream_id = ${streamId} and (chain, factory, address) in (
        select chain, factory, address from child where stream_id = ${streamId} and ${which}
        limit ${CLEAN_UP_ROWS})`.execute(trx);
    return numAffectedRows > 0n;
  };

  const deleteOf = async (
    trx: Db,
    streamId: string,
    factories: readonly string[],
  ): Promise<boolean> => {
    const listed = sql`(select factory from ${engine.texts(factories, 'factory')} as listed)`;
    if (await deleteSome(trx, streamId, sql`factory in ${listed}`)) return true;
    await sql`
      delete from left_factory where stream_id = ${streamId} and factory in ${listed}`.execute(trx);
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
            and exists (select 1 from child where stream_id = stream.id) limit 1`.execute(trx);
        if (rows[0] !== undefined) {
          await trx.deleteFrom('child_label').where('stream_id', '=', rows[0].id).execute();
          return deleteSome(trx, rows[0].id);
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

/**
 * Builds the statement that adds children, each at most once, and lowers the first block of known
 * ones; undefined if there are none.
 */
export function insertChildren(
  trx: Db,
  engine: Engine,
  chain: string,
  children: readonly KnownChild[],
): CompiledQuery<unknown> | undefined {
  if (children.length === 0) return undefined;
  const rows = children.map(({ streamId, factory, address, blockNumber }) => ({
    stream_id: streamId,
    factory,
    address,
    block_number: blockNumber,
  }));
  const columns = {
    stream_id: 'text',
    factory: 'text',
    address: 'text',
    block_number: 'bigint',
  } as const;
  return sql`
    insert into child (stream_id, chain, factory, address, block_number)
    select stream_id, ${chain}, factory, address, block_number
    from ${engine.rows(rows, columns)} as created
    where exists (select 1 from stream where id = stream_id and deleted_at is null)
    on conflict (stream_id, chain, factory, address) do update
      set block_number = excluded.block_number
      where child.block_number > excluded.block_number`.compile(trx);
}

/** Returns children that are known since a block. */
export const toKnownChildren = (
  { number }: { number: number },
  children: readonly Child[] = [],
): KnownChild[] => children.map((child) => ({ ...child, blockNumber: number }));

/** Deletes the children of a chain from block `from` on, and returns them. */
export async function deleteChildren(trx: Db, chain: string, from: number): Promise<Child[]> {
  const rows = await trx
    .deleteFrom('child')
    .where('chain', '=', chain)
    .where('block_number', '>=', from)
    .returning(['stream_id', 'factory', 'address'])
    .execute();
  return rows.map(({ stream_id, factory, address }) => ({ streamId: stream_id, factory, address }));
}
