/** Steps of an address change. Each function runs within a transaction of the caller. */
import type { ChainFamily } from '@sluice/kit/contract';
import { type RawBuilder, sql } from 'kysely';
import type { Engine } from '../engine/engine.ts';
import type { Db, Tables } from '../tables/tables.ts';
import type { AddressChange, AddressOutcome, AddressPart } from './contract.ts';
import { fromDigits, toDigits, unpackAddresses } from './packedAddresses.ts';
import { STREAM_FAMILIES } from '../streams/contract.ts';
import { type EffectiveFrom, raiseRevision, readEffectiveFrom } from '../rules/ruleRevision.ts';

const PRESENT_ADDRESS = {
  address: 'text',
  label: 'text',
  added_at: 'bigint',
  key_id: 'text',
} as const;

/**
 * Columns of a part and its effects: `delta` is the change in the number of addresses, and `dead`
 * the number of rows that become invisible.
 */
const PART = {
  change_id: 'bigint',
  part: 'bigint',
  kind: 'text',
  width: 'bigint',
  digits: 'text',
  delta: 'bigint',
  dead: 'bigint',
} as const;

interface StagedPart {
  streamId: string;
  change: number;
  number: number;
  part: AddressPart;
  added: number;
  /** Number of rows that become invisible when the change is activated. */
  dead: number;
}

type PresentAddress = Pick<Tables['stream_address'], keyof typeof PRESENT_ADDRESS>;

/**
 * Locks the lists of these streams for the rest of the transaction. Returns, by stream, why a list
 * cannot be changed now; streams whose addresses have a different width count as unknown.
 */
export async function lockLists(
  trx: Db,
  engine: Engine,
  changes: readonly { streamId: string; width?: number | undefined }[],
): Promise<Map<string, { outcome: 'unknown-stream' | 'busy' }>> {
  const ids = changes.map(({ streamId }) => streamId);
  await engine.lock(trx, ...ids.map((id) => `addresses of ${id}`));
  const { rows } = await sql<{ id: string; family: ChainFamily | null; is_open: number }>`
    select id,
      (select family from stream where stream.id = given.id and deleted_at is null) as family,
      (select count(*) from address_change
        where stream_id = given.id and state <> 'active') as is_open
    from ${engine.texts(ids, 'id')} as given`.execute(trx);
  const found = new Map(rows.map((row) => [row.id, row]));
  return new Map(
    changes.flatMap(({ streamId, width }): [string, { outcome: 'unknown-stream' | 'busy' }][] => {
      const { family, is_open: isOpen } = found.get(streamId)!;
      if (
        family === null ||
        (width !== undefined && width !== STREAM_FAMILIES[family].addressBytes)
      ) {
        return [[streamId, { outcome: 'unknown-stream' }]];
      }
      return isOpen > 0 ? [[streamId, { outcome: 'busy' }]] : [];
    }),
  );
}

/**
 * Starts a change for each of these streams, and returns the ids of the changes by stream. The
 * lists must be locked.
 */
export async function insertChanges(
  trx: Db,
  engine: Engine,
  streamIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: number; stream_id: string }>`
    insert into address_change (stream_id, state, revision, parts, delta, touched_at)
    select id, 'staging', null, 0, 0, ${engine.now()} from ${engine.texts(streamIds, 'id')} as given
    returning id, stream_id`.execute(trx);
  return new Map(rows.map((row) => [row.stream_id, row.id]));
}

function textsOf(engine: Engine, addresses: readonly string[]): RawBuilder<object> {
  return sql`select address from ${engine.texts(addresses, 'address')} as texts`;
}

/**
 * Returns an address that the part removes but the stream does not have; undefined if there is
 * none. Addresses that `change` already removed count as present. The subquery cannot become a
 * join, so each address is looked up by key.
 */
export async function findMissing(
  trx: Db,
  engine: Engine,
  streamId: string,
  part: AddressPart,
  change: number | null = null,
): Promise<string | undefined> {
  if (part.kind === 'add') return undefined;
  const addresses = unpackAddresses(part.addresses);
  const { rows } = await sql<{ address: string }>`
    select wanted.address from (${textsOf(engine, addresses)}) as wanted
    where (
      select 1 from stream_address as had
      where had.stream_id = ${streamId} and had.address = wanted.address
        and (had.removed_by is null or had.removed_by = ${change})
      limit 1) is null
    limit 1`.execute(trx);
  return rows[0]?.address;
}

async function remove(
  trx: Db,
  engine: Engine,
  streamId: string,
  change: number,
  addresses: readonly string[],
): Promise<number> {
  const removed = await sql`
    update stream_address set removed_by = ${change}
    where stream_id = ${streamId} and removed_by is null
      and address ${engine.isIn(textsOf(engine, addresses))}`.execute(trx);
  return Number(removed.numAffectedRows ?? 0);
}

/**
 * Stages the addresses of a part. Returns the number of added rows, and of rows that become
 * invisible when the change is activated.
 */
async function stageAdded(
  trx: Db,
  engine: Engine,
  streamId: string,
  change: number,
  { labels, clearLabels, keyId }: AddressPart & { kind: 'add' },
  addresses: readonly string[],
): Promise<{ added: number; dead: number }> {
  const { rows: present } = await sql<PresentAddress>`
    select address, label, added_at, key_id from stream_address
    where stream_id = ${streamId} and removed_by is null
      and address ${engine.isIn(textsOf(engine, addresses))}`.execute(trx);
  const insert = async (coming: RawBuilder<object>): Promise<number> => {
    const inserted = await sql`
      insert into stream_address (stream_id, address, label, added_at, key_id, added_by, removed_by)
      select ${streamId}, coming.address, coming.label, coming.added_at, coming.key_id, ${change}, null
      from ${coming} as coming
      where true
      on conflict do nothing`.execute(trx);
    return Number(inserted.numAffectedRows ?? 0);
  };
  // To change a label, one row is removed and another is added.
  const relabeled = present.flatMap((row) => {
    // An empty label removes the current one.
    const label = (labels[row.address] ?? (clearLabels ? null : row.label)) || null;
    return label === row.label ? [] : [{ ...row, label }];
  });
  let [added, dead] = [0, 0];
  if (relabeled.length > 0) {
    const names = relabeled.map(({ address }) => address);
    dead = await remove(trx, engine, streamId, change, names);
    added = await insert(engine.rows(relabeled, PRESENT_ADDRESS));
  }
  const known = new Set(present.map(({ address }) => address));
  const coming = addresses.filter((address) => !known.has(address));
  if (coming.length > 0) {
    added += await insert(sql`(
      select address, label, ${engine.now()} as added_at, ${keyId} as key_id
      from ${rowsOf(engine, coming, labels)} as texts)`);
  }
  return { added, dead };
}

/** Returns a table of the addresses with their labels; addresses without a label have null. */
function rowsOf(
  engine: Engine,
  addresses: readonly string[],
  labels: Readonly<Record<string, string>>,
): RawBuilder<object> {
  if (Object.keys(labels).length === 0) {
    return sql`(select address, null as label from ${engine.texts(addresses, 'address')} as texts)`;
  }
  const rows = addresses.map((address) => ({ address, label: labels[address] || null }));
  return engine.rows(rows, { address: 'text', label: 'text' });
}

export async function stageRows(
  trx: Db,
  engine: Engine,
  streamId: string,
  change: number,
  part: AddressPart,
): Promise<{ added: number; dead: number }> {
  const addresses = unpackAddresses(part.addresses);
  if (part.kind === 'add') return stageAdded(trx, engine, streamId, change, part, addresses);
  return { added: 0, dead: await remove(trx, engine, streamId, change, addresses) };
}

/** Stores parts whose rows are already staged, and updates the totals of their changes. */
export async function storeParts(
  trx: Db,
  engine: Engine,
  parts: readonly StagedPart[],
): Promise<void> {
  const rows = parts.map(({ change, number, part, added, dead }) => ({
    change_id: change,
    part: number,
    kind: part.kind,
    width: part.addresses.width,
    digits: toDigits(part.addresses.bytes),
    delta: added - dead,
    dead,
  }));
  const kept = engine.rows(rows, PART);
  await sql`
    insert into address_change_part (change_id, part, kind, width, digits, dead)
    select change_id, part, kind, width, digits, dead from ${kept} as kept`.execute(trx);
  const totals = engine.rows(
    rows.map(({ change_id, delta }) => ({ change_id, delta })),
    { change_id: 'bigint', delta: 'bigint' },
  );
  await sql`
    update address_change
    set parts = address_change.parts + total.parts, delta = address_change.delta + total.delta,
      touched_at = ${engine.now()}
    from (
      select change_id, count(*) as parts, sum(delta) as delta from ${totals} as staged
      group by change_id) as total
    where address_change.id = total.change_id`.execute(trx);
}

/**
 * Activates changes together. Returns the results by change; omits changes that were abandoned or
 * whose stream was deleted.
 */
export async function activateChanges(
  trx: Db,
  engine: Engine,
  changes: readonly number[],
): Promise<Map<number, { streamId: string; effectiveFrom: EffectiveFrom }>> {
  // Deleting a stream also raises the revision, so deletions wait until this transaction commits.
  const revision = await raiseRevision(trx);
  const given = sql`select id from ${engine.rows(
    changes.map((id) => ({ id })),
    { id: 'bigint' },
  )} as given`;
  const { rows } = await sql<{ id: number; stream_id: string; chain_ids: string; delta: number }>`
    select change.id, stream_id, chain_ids, delta
    from address_change as change join stream on stream.id = stream_id
    where change.id ${engine.isIn(given)} and state = 'staging' and deleted_at is null`.execute(
    trx,
  );
  if (rows.length === 0) return new Map();
  const active = engine.rows(rows, { id: 'bigint' });
  await sql`
    update address_change set state = 'active', revision = ${revision}, touched_at = ${engine.now()}
    where id ${engine.isIn(sql`select id from ${active} as active`)}`.execute(trx);
  const counts = engine.rows(rows, { stream_id: 'text', delta: 'bigint' });
  await sql`
    update stream set address_count = address_count + changed.delta, updated_at = ${engine.now()}
    from ${counts} as changed where stream.id = changed.stream_id`.execute(trx);
  const chains = new Map(rows.map((row) => [row.id, JSON.parse(row.chain_ids) as string[]]));
  const effectiveFrom = await readEffectiveFrom(trx, [...new Set([...chains.values()].flat())]);
  return new Map(
    rows.map(({ id, stream_id: streamId }) => [
      id,
      {
        streamId,
        effectiveFrom: Object.fromEntries(
          Object.entries(effectiveFrom).filter(([chain]) => chains.get(id)!.includes(chain)),
        ),
      },
    ]),
  );
}

interface Part {
  stream_id: string;
  change_id: number;
  part: number;
  width: 20 | 32;
  digits: string;
}
export function selectParts(trx: Db) {
  return trx
    .selectFrom('address_change_part as part')
    .innerJoin('address_change as change', 'change.id', 'part.change_id')
    .select(['change.stream_id', 'part.change_id', 'part.part', 'part.width', 'part.digits']);
}

export function isInPart(
  engine: Engine,
  { stream_id: streamId, width, digits }: Part,
): RawBuilder<boolean> {
  const addresses = unpackAddresses({ width, bytes: fromDigits(digits) });
  return sql<boolean>`stream_id = ${streamId} and address ${engine.isIn(textsOf(engine, addresses))}`;
}

/** Deletes the rows that a part of an active change removed, because they are no longer visible. */
export async function deleteDead(trx: Db, engine: Engine, part: Part): Promise<void> {
  await sql`
    delete from stream_address
    where ${isInPart(engine, part)} and removed_by = ${part.change_id}`.execute(trx);
  await trx
    .updateTable('address_change_part')
    .set({ dead: 0 })
    .where('change_id', '=', part.change_id)
    .where('part', '=', part.part)
    .execute();
}

/**
 * Applies changes whose lists are locked and contain all addresses to remove. Returns the outcomes
 * by stream; omits streams that were deleted in the meantime.
 */
export async function applyLocked(
  trx: Db,
  engine: Engine,
  changes: readonly AddressChange[],
): Promise<Map<string, AddressOutcome>> {
  if (changes.length === 0) return new Map();
  const ids = await insertChanges(
    trx,
    engine,
    changes.map(({ streamId }) => streamId),
  );
  const staged: StagedPart[] = [];
  for (const { streamId, parts } of changes) {
    const change = ids.get(streamId)!;
    for (const [number, part] of parts.entries()) {
      const rows = await stageRows(trx, engine, streamId, change, part);
      staged.push({ streamId, change, number, part, ...rows });
    }
  }
  await storeParts(trx, engine, staged);
  const activated = await activateChanges(trx, engine, [...ids.values()]);
  for (const { change, streamId, number, part, dead } of staged) {
    if (dead === 0 || !activated.has(change)) continue;
    await deleteDead(trx, engine, {
      stream_id: streamId,
      change_id: change,
      part: number,
      width: part.addresses.width,
      digits: toDigits(part.addresses.bytes),
    });
  }
  return new Map(
    [...activated.values()].map(({ streamId, effectiveFrom }) => [
      streamId,
      { outcome: 'changed', effectiveFrom },
    ]),
  );
}
