import type { ChainFamily } from '@sluice/kit/contract';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type Db, type Engine, readNow } from './engine.ts';
import { fromDigits, toDigits, unpackAddresses } from './packedAddresses.ts';
import { raiseRevision, readEffectiveFrom } from './ruleRevision.ts';
import type {
  AddressChange,
  AddressOutcome,
  AddressPart,
  AddressWrites,
  EffectiveFrom,
} from './store.ts';
import type { Tables } from './tables.ts';

/** Rows that one transaction of the clean-up deletes at most. */
const CLEAN_UP_ROWS = 5_000;
const EXPIRED_PARTS = 50;

const PRESENT_ADDRESS = {
  address: 'text',
  label: 'text',
  added_at: 'bigint',
  key_id: 'text',
} as const;

/** Bytes of an address. */
const WIDTHS: Record<ChainFamily, number> = { evm: 20, aptos: 32 };

/** Rows of a part as it is kept, with what it changes. */
const PART = {
  change_id: 'bigint',
  part: 'bigint',
  kind: 'text',
  width: 'bigint',
  digits: 'text',
  delta: 'bigint',
  dead: 'bigint',
} as const;

/** A part whose rows are staged. */
interface StagedPart {
  streamId: string;
  change: number;
  number: number;
  part: AddressPart;
  added: number;
  /** Rows that are dead once the change is active. */
  dead: number;
}

type PresentAddress = Pick<Tables['stream_address'], keyof typeof PRESENT_ADDRESS>;

/**
 * What a stream watches. A change is staged part by part, each part a transaction, and takes effect in
 * one short one: rows of `stream_address` name the change that added them and the one that removed
 * them, and a change that is not `active` counts for nothing. A small change does all of it in one
 * transaction.
 *
 * The parts of a change are kept as well, packed: from them the matcher learns what changed without
 * reading the list, and a change that was given up is undone address by address, so that the list
 * needs no index but its key.
 */
export function createAddressWrites(db: Kysely<Tables>, engine: Engine): AddressWrites {
  /**
   * Locks the lists of these streams for the rest of the transaction. Returns why one cannot be changed
   * now: by stream, those that can are left out. A stream of another family than its addresses is unknown.
   */
  const lockLists = async (
    trx: Db,
    changes: readonly { streamId: string; width?: number | undefined }[],
  ): Promise<Map<string, { outcome: 'unknown-stream' | 'busy' }>> => {
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
        if (family === null || (width !== undefined && width !== WIDTHS[family])) {
          return [[streamId, { outcome: 'unknown-stream' }]];
        }
        return isOpen > 0 ? [[streamId, { outcome: 'busy' }]] : [];
      }),
    );
  };

  /** Begins a change of each of these streams, whose lists are locked; returns its id by stream. */
  const insertChanges = async (
    trx: Db,
    streamIds: readonly string[],
  ): Promise<Map<string, number>> => {
    const { rows } = await sql<{ id: number; stream_id: string }>`
      insert into address_change (stream_id, state, revision, parts, delta, touched_at)
      select id, 'staging', null, 0, 0, ${engine.now()} from ${engine.texts(streamIds, 'id')} as given
      returning id, stream_id`.execute(trx);
    return new Map(rows.map((row) => [row.stream_id, row.id]));
  };

  const textsOf = (addresses: readonly string[]): RawBuilder<object> =>
    sql`select address from ${engine.texts(addresses, 'address')} as texts`;

  /**
   * The first address of a removal that the stream does not have, neither now nor before `change`.
   * The subquery is where no planner makes a join of it: each address is looked up by the key.
   */
  const findMissing = async (
    trx: Db,
    streamId: string,
    part: AddressPart,
    change: number | null = null,
  ): Promise<string | undefined> => {
    if (part.kind === 'add') return undefined;
    const addresses = unpackAddresses(part.addresses);
    const { rows } = await sql<{ address: string }>`
      select wanted.address from (${textsOf(addresses)}) as wanted
      where (
        select 1 from stream_address as had
        where had.stream_id = ${streamId} and had.address = wanted.address
          and (had.removed_by is null or had.removed_by = ${change})
        limit 1) is null
      limit 1`.execute(trx);
    return rows[0]?.address;
  };

  const remove = async (
    trx: Db,
    streamId: string,
    change: number,
    addresses: readonly string[],
  ): Promise<number> => {
    const removed = await sql`
      update stream_address set removed_by = ${change}
      where stream_id = ${streamId} and removed_by is null
        and address ${engine.isIn(textsOf(addresses))}`.execute(trx);
    return Number(removed.numAffectedRows ?? 0);
  };

  /** Answers with the number of rows that were added, and that are dead once the change is active. */
  const stageAdded = async (
    trx: Db,
    streamId: string,
    change: number,
    { labels, clearLabels, keyId }: AddressPart & { kind: 'add' },
    addresses: readonly string[],
  ): Promise<{ added: number; dead: number }> => {
    const { rows: present } = await sql<PresentAddress>`
      select address, label, added_at, key_id from stream_address
      where stream_id = ${streamId} and removed_by is null
        and address ${engine.isIn(textsOf(addresses))}`.execute(trx);
    const insert = async (coming: RawBuilder<object>): Promise<number> => {
      const inserted = await sql`
        insert into stream_address (stream_id, address, label, added_at, key_id, added_by, removed_by)
        select ${streamId}, coming.address, coming.label, coming.added_at, coming.key_id, ${change}, null
        from ${coming} as coming
        where true
        on conflict do nothing`.execute(trx);
      return Number(inserted.numAffectedRows ?? 0);
    };
    // An address with another label is a row that goes and a row that comes.
    const relabelled = present.flatMap((row) => {
      const label = labels[row.address] ?? (clearLabels ? null : row.label);
      return label === row.label ? [] : [{ ...row, label }];
    });
    let [added, dead] = [0, 0];
    if (relabelled.length > 0) {
      const names = relabelled.map(({ address }) => address);
      dead = await remove(trx, streamId, change, names);
      added = await insert(engine.rows(relabelled, PRESENT_ADDRESS));
    }
    const known = new Set(present.map(({ address }) => address));
    const coming = addresses.filter((address) => !known.has(address));
    if (coming.length > 0) {
      added += await insert(sql`(
        select address, label, ${engine.now()} as added_at, ${keyId} as key_id
        from ${rowsOf(coming, labels)} as texts)`);
    }
    return { added, dead };
  };

  /** Addresses as a table, with their labels where any has one. */
  const rowsOf = (
    addresses: readonly string[],
    labels: Readonly<Record<string, string>>,
  ): RawBuilder<object> => {
    if (Object.keys(labels).length === 0) {
      return sql`(select address, null as label from ${engine.texts(addresses, 'address')} as texts)`;
    }
    const rows = addresses.map((address) => ({ address, label: labels[address] ?? null }));
    return engine.rows(rows, { address: 'text', label: 'text' });
  };

  const stageRows = async (
    trx: Db,
    streamId: string,
    change: number,
    part: AddressPart,
  ): Promise<{ added: number; dead: number }> => {
    const addresses = unpackAddresses(part.addresses);
    if (part.kind === 'add') return stageAdded(trx, streamId, change, part, addresses);
    return { added: 0, dead: await remove(trx, streamId, change, addresses) };
  };

  /** Keeps these parts, whose rows are staged, and what they make of their changes. */
  const keepParts = async (trx: Db, parts: readonly StagedPart[]): Promise<void> => {
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
  };

  /**
   * Makes changes take effect together. Returns what they do by change; those that were given up, or whose
   * stream was deleted, are left out.
   */
  const activate = async (
    trx: Db,
    changes: readonly number[],
  ): Promise<Map<number, { streamId: string; effectiveFrom: EffectiveFrom }>> => {
    // Deleting a stream raises the revision too, so from here on none is deleted.
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
  };

  interface Part {
    stream_id: string;
    change_id: number;
    part: number;
    width: 20 | 32;
    digits: string;
  }
  const selectParts = (trx: Db) =>
    trx
      .selectFrom('address_change_part as part')
      .innerJoin('address_change as change', 'change.id', 'part.change_id')
      .select(['change.stream_id', 'part.change_id', 'part.part', 'part.width', 'part.digits']);

  const isOf = ({ stream_id: streamId, width, digits }: Part): RawBuilder<boolean> => {
    const addresses = unpackAddresses({ width, bytes: fromDigits(digits) });
    return sql<boolean>`stream_id = ${streamId} and address ${engine.isIn(textsOf(addresses))}`;
  };

  /** Deletes the rows that an active change removed: nobody sees them any more. */
  const deleteDead = async (trx: Db, part: Part): Promise<void> => {
    await sql`
      delete from stream_address
      where ${isOf(part)} and removed_by = ${part.change_id}`.execute(trx);
    await trx
      .updateTable('address_change_part')
      .set({ dead: 0 })
      .where('change_id', '=', part.change_id)
      .where('part', '=', part.part)
      .execute();
  };

  /**
   * Changes these lists, which are locked and have what is to be removed. Returns the outcomes by stream;
   * streams that were deleted meanwhile are left out.
   */
  const changeFree = async (
    trx: Db,
    changes: readonly AddressChange[],
  ): Promise<Map<string, AddressOutcome>> => {
    if (changes.length === 0) return new Map();
    const ids = await insertChanges(
      trx,
      changes.map(({ streamId }) => streamId),
    );
    const staged: StagedPart[] = [];
    for (const { streamId, parts } of changes) {
      const change = ids.get(streamId)!;
      for (const [number, part] of parts.entries()) {
        const rows = await stageRows(trx, streamId, change, part);
        staged.push({ streamId, change, number, part, ...rows });
      }
    }
    await keepParts(trx, staged);
    const activated = await activate(trx, [...ids.values()]);
    for (const { change, streamId, number, part, dead } of staged) {
      if (dead === 0 || !activated.has(change)) continue;
      await deleteDead(trx, {
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
  };

  /** Undoes a part of a change that was given up, or forgets the change; false when there is none. */
  const undoPart = async (change: number): Promise<boolean> =>
    db.transaction().execute(async (trx) => {
      const part = await selectParts(trx)
        .where('change_id', '=', change)
        .where('change.state', '=', 'abandoned')
        .limit(1)
        .executeTakeFirst();
      if (part === undefined) {
        await trx
          .deleteFrom('address_change')
          .where('id', '=', change)
          .where('state', '=', 'abandoned')
          .execute();
        return false;
      }
      await sql`
        delete from stream_address where ${isOf(part)} and added_by = ${change}`.execute(trx);
      await sql`
        update stream_address set removed_by = null
        where ${isOf(part)} and removed_by = ${change}`.execute(trx);
      await trx
        .deleteFrom('address_change_part')
        .where('change_id', '=', change)
        .where('part', '=', part.part)
        .execute();
      return true;
    });

  const deleteSomeDead = async (): Promise<boolean> =>
    db.transaction().execute(async (trx) => {
      const part = await selectParts(trx)
        .where('part.dead', '>', 0)
        .where('change.state', '=', 'active')
        .limit(1)
        .executeTakeFirst();
      if (part === undefined) return false;
      await deleteDead(trx, part);
      return true;
    });

  const deleteSomeOfDeletedStreams = async (): Promise<boolean> =>
    db.transaction().execute(async (trx) => {
      const stream = await trx
        .selectFrom('stream')
        .select('id')
        .where('deleted_at', 'is not', null)
        .where('address_count', '>', 0)
        .limit(1)
        .executeTakeFirst();
      if (stream === undefined) return false;
      const deleted = await sql`
        delete from stream_address where stream_id = ${stream.id} and address ${engine.isIn(sql`
          select address from stream_address where stream_id = ${stream.id}
          limit ${CLEAN_UP_ROWS}`)}`.execute(trx);
      if (deleted.numAffectedRows === 0n) {
        await trx
          .updateTable('stream')
          .set({ address_count: 0 })
          .where('id', '=', stream.id)
          .execute();
      }
      return true;
    });

  /** Forgets parts of old changes; a matcher that has not read them by then reads whole lists. */
  const expireParts = async (keepMs: number): Promise<boolean> =>
    db.transaction().execute(async (trx) => {
      const before = (await readNow(engine, trx)) - keepMs;
      const parts = await trx
        .selectFrom('address_change as change')
        .innerJoin('address_change_part as part', 'change.id', 'part.change_id')
        .select(['change.revision', 'part.change_id', 'part.part'])
        .where('change.state', '=', 'active')
        .where('change.touched_at', '<=', before)
        .orderBy('change.revision')
        .limit(EXPIRED_PARTS)
        .execute();
      const newest = parts.at(-1);
      if (newest === undefined) return false;
      await trx
        .updateTable('rule_revision')
        .set({ trimmed: newest.revision! })
        .where('trimmed', '<', newest.revision!)
        .execute();
      for (const { change_id: change, part } of parts) {
        await trx
          .deleteFrom('address_change_part')
          .where('change_id', '=', change)
          .where('part', '=', part)
          .execute();
      }
      await trx
        .deleteFrom('address_change')
        .where('id', 'in', [...new Set(parts.map((part) => part.change_id))])
        .where('id', 'not in', trx.selectFrom('address_change_part').select('change_id'))
        .execute();
      return true;
    });

  return {
    async changeAddresses(changes) {
      return db.transaction().execute(async (trx) => {
        const refused = new Map<string, AddressOutcome>(
          await lockLists(
            trx,
            changes.map(({ streamId, parts }) => ({
              streamId,
              width: parts[0]?.addresses.width,
            })),
          ),
        );
        for (const { streamId, parts } of changes) {
          for (const part of parts) {
            if (refused.has(streamId)) break;
            const address = await findMissing(trx, streamId, part);
            if (address !== undefined) refused.set(streamId, { outcome: 'missing', address });
          }
        }
        const free = changes.filter(({ streamId }) => !refused.has(streamId));
        const changed = await changeFree(trx, free);
        return changes.map(
          ({ streamId }): AddressOutcome =>
            refused.get(streamId) ?? changed.get(streamId) ?? { outcome: 'unknown-stream' },
        );
      });
    },

    async beginAddressChange(streamId, width) {
      return db.transaction().execute(async (trx) => {
        const refused = (await lockLists(trx, [{ streamId, width }])).get(streamId);
        if (refused !== undefined) return refused;
        const change = (await insertChanges(trx, [streamId])).get(streamId)!;
        return { outcome: 'begun', change };
      });
    },

    async stageAddresses(change, part) {
      return db.transaction().execute(async (trx) => {
        const staging = await trx
          .updateTable('address_change')
          .set({ touched_at: engine.now() })
          .where('id', '=', change)
          .where('state', '=', 'staging')
          .returning(['stream_id', 'parts'])
          .executeTakeFirst();
        if (staging === undefined) return { outcome: 'lost' };
        const { stream_id: streamId, parts: number } = staging;
        const missing = await findMissing(trx, streamId, part, change);
        if (missing !== undefined) return { outcome: 'missing', address: missing };
        const rows = await stageRows(trx, streamId, change, part);
        await keepParts(trx, [{ streamId, change, number, part, ...rows }]);
        return { outcome: 'staged' };
      });
    },

    async activateAddressChange(change) {
      return db.transaction().execute(async (trx) => {
        const activated = (await activate(trx, [change])).get(change);
        return activated === undefined ? { outcome: 'lost' } : { outcome: 'changed', ...activated };
      });
    },

    async undoAddressChange(change) {
      await db
        .updateTable('address_change')
        .set({ state: 'abandoned' })
        .where('id', '=', change)
        .where('state', '=', 'staging')
        .execute();
      return undoPart(change);
    },

    async cleanUpAddresses({ keepMs, staleMs }) {
      await db
        .updateTable('address_change')
        .set({ state: 'abandoned' })
        .where('state', '=', 'staging')
        .where('touched_at', '<=', (await readNow(engine, db)) - staleMs)
        .execute();
      const abandoned = await db
        .selectFrom('address_change')
        .select('id')
        .where('state', '=', 'abandoned')
        .limit(1)
        .executeTakeFirst();
      if (abandoned !== undefined) {
        await undoPart(abandoned.id);
        return true;
      }
      return (
        (await deleteSomeDead()) || (await deleteSomeOfDeletedStreams()) || expireParts(keepMs)
      );
    },
  };
}
