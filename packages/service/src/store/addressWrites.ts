import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type Db, type Engine, readNow } from './engine.ts';
import { fromDigits, toDigits, unpackAddresses } from './packedAddresses.ts';
import { raiseRevision, readEffectiveFrom } from './ruleRevision.ts';
import type { AddressOutcome, AddressPart, AddressWrites, EffectiveFrom } from './store.ts';
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
  /** Undefined where another change of the stream is under way, in this process or another. */
  const insertChange = async (trx: Db, streamId: string): Promise<number | undefined> => {
    await engine.lock(trx, `addresses of ${streamId}`);
    const open = await trx
      .selectFrom('address_change')
      .select('id')
      .where('stream_id', '=', streamId)
      .where('state', '!=', 'active')
      .executeTakeFirst();
    if (open !== undefined) return undefined;
    const { id } = await trx
      .insertInto('address_change')
      .values({
        stream_id: streamId,
        state: 'staging',
        revision: null,
        parts: 0,
        delta: 0,
        touched_at: await readNow(engine, trx),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    return id;
  };

  const isKnown = async (trx: Db, streamId: string): Promise<boolean> => {
    const row = await trx
      .selectFrom('stream')
      .select('id')
      .where('id', '=', streamId)
      .where('deleted_at', 'is', null)
      .executeTakeFirst();
    return row !== undefined;
  };

  const textsOf = (addresses: readonly string[]): RawBuilder<object> =>
    sql`select address from ${engine.texts(addresses, 'address')} as texts`;

  // The subquery stands where no planner makes a join of it: each address is looked up by the key.
  const findMissing = async (
    trx: Db,
    streamId: string,
    change: number,
    addresses: readonly string[],
  ): Promise<string | undefined> => {
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

  const stagePart = async (
    trx: Db,
    streamId: string,
    change: number,
    number: number,
    part: AddressPart,
  ): Promise<{ address: string } | undefined> => {
    const addresses = unpackAddresses(part.addresses);
    let added = 0;
    let dead: number;
    if (part.kind === 'add') {
      ({ added, dead } = await stageAdded(trx, streamId, change, part, addresses));
    } else {
      const missing = await findMissing(trx, streamId, change, addresses);
      if (missing !== undefined) return { address: missing };
      dead = await remove(trx, streamId, change, addresses);
    }
    await trx
      .insertInto('address_change_part')
      .values({
        change_id: change,
        part: number,
        kind: part.kind,
        width: part.addresses.width,
        digits: toDigits(part.addresses.bytes),
        dead,
      })
      .execute();
    await trx
      .updateTable('address_change')
      .set((eb) => ({
        parts: number + 1,
        delta: eb('delta', '+', added - dead),
        touched_at: engine.now(),
      }))
      .where('id', '=', change)
      .execute();
    return undefined;
  };

  /** Undefined when the change was given up, or its stream was deleted. */
  const activate = async (
    trx: Db,
    change: number,
  ): Promise<{ streamId: string; effectiveFrom: EffectiveFrom } | undefined> => {
    // Whoever deletes a stream raises the revision too, so from here on it stays.
    const revision = await raiseRevision(trx);
    const stream = await trx
      .selectFrom('address_change as change')
      .innerJoin('stream', 'stream.id', 'change.stream_id')
      .select(['stream.id', 'stream.chain_ids', 'change.delta'])
      .where('change.id', '=', change)
      .where('change.state', '=', 'staging')
      .where('stream.deleted_at', 'is', null)
      .executeTakeFirst();
    if (stream === undefined) return undefined;
    const activated = await trx
      .updateTable('address_change')
      .set({ state: 'active', revision, touched_at: engine.now() })
      .where('id', '=', change)
      .where('state', '=', 'staging')
      .returning('id')
      .executeTakeFirst();
    if (activated === undefined) return undefined;
    await trx
      .updateTable('stream')
      .set((eb) => ({
        address_count: eb('address_count', '+', stream.delta),
        updated_at: engine.now(),
      }))
      .where('id', '=', stream.id)
      .execute();
    const effectiveFrom = await readEffectiveFrom(trx, JSON.parse(stream.chain_ids) as string[]);
    return { streamId: stream.id, effectiveFrom };
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
    async changeAddresses(streamId, part) {
      const change = db.transaction().execute(async (trx): Promise<AddressOutcome> => {
        if (!(await isKnown(trx, streamId))) return { outcome: 'unknown-stream' };
        const id = await insertChange(trx, streamId);
        if (id === undefined) return { outcome: 'busy' };
        const failure = await stagePart(trx, streamId, id, 0, part);
        if (failure !== undefined) throw new Refused({ outcome: 'missing', ...failure });
        const activated = await activate(trx, id);
        if (activated === undefined) throw new Refused({ outcome: 'unknown-stream' });
        const [died] = await selectParts(trx)
          .where('change_id', '=', id)
          .where('part.dead', '>', 0)
          .execute();
        if (died !== undefined) await deleteDead(trx, died);
        return { outcome: 'changed', effectiveFrom: activated.effectiveFrom };
      });
      return change.catch((error: unknown) => {
        if (error instanceof Refused) return error.outcome;
        throw error;
      });
    },

    async beginAddressChange(streamId) {
      return db.transaction().execute(async (trx) => {
        if (!(await isKnown(trx, streamId))) return { outcome: 'unknown-stream' };
        const change = await insertChange(trx, streamId);
        return change === undefined ? { outcome: 'busy' } : { outcome: 'begun', change };
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
        const failure = await stagePart(trx, staging.stream_id, change, staging.parts, part);
        return failure === undefined ? { outcome: 'staged' } : { outcome: 'missing', ...failure };
      });
    },

    async activateAddressChange(change) {
      return db.transaction().execute(async (trx) => {
        const activated = await activate(trx, change);
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

/** Takes a transaction back whose answer is this. */
class Refused extends Error {
  override readonly name = 'Refused';
  readonly outcome: AddressOutcome;

  constructor(outcome: AddressOutcome) {
    super(outcome.outcome);
    this.outcome = outcome;
  }
}
