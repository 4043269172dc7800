/**
 * Adds and deletes the rows of children together with their counts, up to the maximum of each
 * stream.
 */
import { sql } from 'kysely';
import type { Engine } from '../engine/engine.ts';
import type { Db, Tables } from '../tables/tables.ts';
import type { Child, ChildListRef, KnownChild } from './contract.ts';

/** Columns of the children in a statement, as {@link toRows} returns them. */
const COLUMNS = {
  stream_id: 'text',
  factory: 'text',
  address: 'text',
  block_number: 'bigint',
} as const;

const toRows = (engine: Engine, children: readonly KnownChild[]) =>
  engine.rows(
    children.map(({ streamId, factory, address, blockNumber }) => ({
      stream_id: streamId,
      factory,
      address,
      block_number: blockNumber,
    })),
    COLUMNS,
  );

const toKnownChild = ({
  stream_id: streamId,
  factory,
  address,
  block_number: blockNumber,
}: Omit<Tables['child'], 'chain'>): KnownChild => ({ streamId, factory, address, blockNumber });

const keyOf = ({ streamId, factory, address }: Child): string =>
  `${streamId} ${factory} ${address}`;

export interface AddedChildren extends LimitedChildren {
  /** Those that the ledger did not have before, or only since a later block. */
  late: readonly KnownChild[];
}

interface LimitedChildren {
  /** The children that the ledger has now, some of which it may have had before. */
  added: readonly KnownChild[];
  /** The children that it does not have, because their stream has the maximum. */
  leftOut: readonly KnownChild[];
}

/**
 * Adds children of a chain in order, each at most once, and lowers the first block of known ones.
 * Chains that add children of a stream at the same time may exceed its maximum by these.
 */
export async function addChildren(
  trx: Db,
  { engine, maxChildren }: { engine: Engine; maxChildren: number },
  chain: string,
  children: readonly KnownChild[],
): Promise<AddedChildren> {
  if (children.length === 0) return { added: [], leftOut: [], late: [] };
  const { added, leftOut } = await limitChildren(trx, { engine, maxChildren }, chain, children);
  const { rows: inserted } = await sql<Omit<Tables['child'], 'chain'>>`
    insert into child (stream_id, chain, factory, address, block_number)
    select stream_id, ${chain}, factory, address, block_number
    from ${toRows(engine, added)} as created
    where exists (select 1 from stream where id = stream_id and deleted_at is null)
    on conflict (stream_id, chain, factory, address) do nothing
    returning stream_id, factory, address, block_number`.execute(trx);
  const late = inserted.map(toKnownChild);
  if (inserted.length < added.length) {
    const { rows: lowered } = await sql<Omit<Tables['child'], 'chain'>>`
      update child set block_number = created.block_number from ${toRows(engine, added)} as created
      where child.stream_id = created.stream_id and child.chain = ${chain}
        and child.factory = created.factory and child.address = created.address
        and child.block_number > created.block_number
      returning child.stream_id, child.factory, child.address, child.block_number`.execute(trx);
    late.push(...lowered.map(toKnownChild));
  }
  await count(
    trx,
    engine,
    inserted.map(({ stream_id: streamId, factory }) => ({ streamId, chain, factory })),
    1,
  );
  return { added, leftOut, late };
}

/** Splits children by whether their stream may have them. */
async function limitChildren(
  trx: Db,
  { engine, maxChildren }: { engine: Engine; maxChildren: number },
  chain: string,
  children: readonly KnownChild[],
): Promise<LimitedChildren> {
  const byStream = Map.groupBy(children, ({ streamId }) => streamId);
  const { rows: counts } = await sql<{ id: string; children: number }>`
    select stream_id as id, cast(sum(children) as bigint) as children from child_list
    where stream_id in (${sql.join([...byStream.keys()])}) group by stream_id`.execute(trx);
  const roomOf = new Map(
    [...byStream.keys()].map((id) => {
      const has = counts.find((each) => each.id === id)?.children ?? 0;
      return [id, Math.max(0, maxChildren - has)];
    }),
  );
  const full = [...byStream].filter(([id, its]) => its.length > roomOf.get(id)!);
  if (full.length === 0) return { added: children, leftOut: [] };
  const { rows } = await sql<Pick<Tables['child'], 'stream_id' | 'factory' | 'address'>>`
    select child.stream_id, child.factory, child.address
    from ${toRows(
      engine,
      full.flatMap(([, its]) => its),
    )} as created
    join child on child.stream_id = created.stream_id and child.chain = ${chain}
      and child.factory = created.factory and child.address = created.address`.execute(trx);
  const known = new Set(
    rows.map(({ stream_id: streamId, factory, address }) => keyOf({ streamId, factory, address })),
  );
  const added: KnownChild[] = [];
  const leftOut: KnownChild[] = [];
  for (const child of children) {
    const key = keyOf(child);
    const room = roomOf.get(child.streamId)!;
    if (known.has(key)) added.push(child);
    else if (room === 0) leftOut.push(child);
    else {
      added.push(child);
      known.add(key);
      roomOf.set(child.streamId, room - 1);
    }
  }
  return { added, leftOut };
}

/** Returns children that are known since a block. */
export const toKnownChildren = (
  { number }: { number: number },
  children: readonly Child[] = [],
): KnownChild[] => children.map((child) => ({ ...child, blockNumber: number }));

/** Deletes the children of a chain from block `from` on, and returns them. */
export async function deleteChildren(
  trx: Db,
  engine: Engine,
  chain: string,
  from: number,
): Promise<Child[]> {
  const rows = await trx
    .deleteFrom('child')
    .where('chain', '=', chain)
    .where('block_number', '>=', from)
    .returning(['stream_id', 'factory', 'address'])
    .execute();
  const deleted = rows.map(({ stream_id, factory, address }) => ({
    streamId: stream_id,
    factory,
    address,
  }));
  await count(
    trx,
    engine,
    deleted.map(({ streamId, factory }) => ({ streamId, chain, factory })),
    -1,
  );
  return deleted;
}

/** Adds `change` to the count of a list, for each time that it is listed. */
export async function count(
  trx: Db,
  engine: Engine,
  lists: readonly ChildListRef[],
  change: 1 | -1,
): Promise<void> {
  if (lists.length === 0) return;
  const changed = Map.groupBy(lists, ({ streamId, chain, factory }) =>
    [streamId, chain, factory].join(' '),
  );
  // In order, so that transactions lock them in the same order.
  const rows = [...changed.keys()].toSorted().map((key) => {
    const [{ streamId, chain, factory }, { length }] = [changed.get(key)![0]!, changed.get(key)!];
    return { stream_id: streamId, chain, factory, children: change * length };
  });
  const columns = {
    stream_id: 'text',
    chain: 'text',
    factory: 'text',
    children: 'bigint',
  } as const;
  await sql`
    insert into child_list (stream_id, chain, factory, children)
    select stream_id, chain, factory, children from ${engine.rows(rows, columns)} as changed
    where true
    on conflict (stream_id, chain, factory) do update
      set children = child_list.children + excluded.children`.execute(trx);
}
