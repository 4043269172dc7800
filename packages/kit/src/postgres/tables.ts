/** Keeps the tables of a stream in PostgreSQL. */
import type { Abi } from 'abitype';
import type { AbiItem } from '../contract/shapes.generated.ts';
import { SluiceError } from '../errors.ts';
import { readTables, tableFamilyOf } from '../families/tables.ts';
import type { TableFamily } from '../families/tables.ts';
import type { AnyReceived, AnyWebhook } from '../families/webhooks.ts';
import { hasItems } from '../webhooks/decode.ts';
import { type Catalog, type FindTable, createCatalog } from './catalog.ts';
import { type RowsOfDelivery, mergeDeliveries, recordsKey, removalKey } from './changes.ts';
import { quoteName } from './identifiers.ts';
import { type PostgresClient, type PostgresPool, inTransaction, sqlStateOf } from './pool.ts';
import { toDelete, toUpsert } from './statements.ts';
import type { Table } from './table.ts';

/** Options of {@link createTables}. */
export interface TablesOptions {
  /** Connections to the database, such as a `Pool` of `pg`. One is used at a time. */
  pool: PostgresPool;
  /** Schema of the tables, which is created if it is missing. A schema has the rows of one stream. */
  schema: string;
  /** Chain family of the stream. Default: `evm`. */
  family?: TableFamily | undefined;
  /** ABI for decoding the logs. Default: the ABI in each webhook, which comes from its stream. */
  abi?: Abi | readonly AbiItem[] | undefined;
}

/** A delivery as the kit returns it: from `unwrap`, a handler or a feed. */
export type TablesDelivery = Pick<AnyReceived, 'id' | 'webhook'>;

/** The tables of a stream. */
export interface Tables {
  /**
   * Writes the rows of a webhook or, for a removal webhook, deletes them, in one transaction.
   * Webhooks can arrive repeatedly, in any order and in several processes at once. Webhooks that
   * arrive at the same time share a transaction. The test webhook writes nothing.
   *
   * @param options position of the delivery in a feed, which is stored in the same transaction
   * @throws SluiceError `invalid_argument` for a delivery of another stream, or without an ID of
   * Sluice; `invalid_webhook` for anything but a webhook. Errors of the database are thrown as
   * they are; nothing was written then.
   */
  apply(delivery: TablesDelivery, options?: { position?: number | undefined }): Promise<void>;
  /** Returns the highest position that was stored, 0 if there is none. */
  readPosition(): Promise<number>;
}

/** A webhook that waits for its transaction. */
interface Waiting {
  readonly delivery: RowsOfDelivery;
  readonly streamId: string;
  readonly position: number;
  resolve(): void;
  reject(error: unknown): void;
}

/** Maximum number of webhooks and rows in a transaction. A single webhook may have more rows. */
const WEBHOOKS_AT_ONCE = 500;
const ROWS_AT_ONCE = 10_000;

/** Number of attempts after a deadlock with a foreign transaction. */
const ATTEMPTS = 5;

/** SQLSTATEs of a serialization failure and a deadlock. */
const REPEATABLE = new Set(['40001', '40P01']);

/** Classes of SQLSTATEs that a webhook causes by its content. */
const CAUSED_BY_CONTENT = new Set(['22', '23', '54']);

/** Maximum number of ABIs that are kept. A stream has one at a time. */
const ABIS = 8;

/**
 * Creates the tables of a stream, or adds what they lack, and returns them. If the stream has an
 * ABI, the tables of its events are created with the first webhook, or now if `abi` is given.
 *
 * @throws SluiceError `invalid_argument` without a schema. Errors of the database are thrown as they
 * are.
 */
export async function createTables({
  pool,
  schema,
  family = 'evm',
  abi,
}: TablesOptions): Promise<Tables> {
  if (!schema) throw new SluiceError('invalid_argument', 'Pass the schema of the tables.');
  const catalog = createCatalog(pool, schema);
  const created = new Map<TableFamily, Promise<void>>();
  const events = createEvents(catalog);
  const waiting: Waiting[] = [];
  let isWriting = false;

  const ensureFamily = (name: TableFamily): Promise<void> => {
    const ready = created.get(name) ?? catalog.ensureFamily(name);
    created.set(name, ready);
    ready.catch(() => created.delete(name));
    return ready;
  };

  async function drain(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    while (waiting.length > 0) await writeTogether(takeBatch(waiting));
    isWriting = false;
  }

  async function writeTogether(batch: readonly Waiting[]): Promise<void> {
    try {
      const refused = await write(batch);
      for (const each of batch) {
        const error = refused.get(each);
        if (error === undefined) each.resolve();
        else each.reject(error);
      }
    } catch (error) {
      // Tables may be missing after a restore.
      const state = sqlStateOf(error)?.slice(0, 2);
      if (state === '42') {
        created.clear();
        events.clear();
      }
      if (batch.length > 1 && CAUSED_BY_CONTENT.has(state ?? '')) {
        // A webhook that the database refuses must not stop the others.
        for (const each of batch) await writeTogether([each]);
      } else {
        for (const each of batch) each.reject(error);
      }
    }
  }

  async function write(batch: readonly Waiting[]): Promise<Map<Waiting, SluiceError>> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await inTransaction(pool, (client) => writeIn(client, schema, batch));
      } catch (error) {
        if (attempt === ATTEMPTS || !REPEATABLE.has(sqlStateOf(error) ?? '')) throw error;
      }
    }
  }

  await ensureFamily(family);
  if (hasItems(abi)) await events.find(abi as readonly AbiItem[]);

  return {
    async apply({ id, webhook }, { position = 0 } = {}) {
      if (isTest(webhook)) return;
      if (!isDeliveryId(id)) {
        throw new SluiceError('invalid_argument', `Not an ID of a delivery of Sluice: ${id}`, {
          hint: 'Verify the webhook by its webhook-signature: the order of its IDs is the order of the chain.',
        });
      }
      await ensureFamily(tableFamilyOf(webhook));
      const delivery = await readDelivery(id, webhook, events, abi as readonly AbiItem[]);
      await new Promise<void>((resolve, reject) => {
        const { streamId } = webhook;
        waiting.push({ delivery, streamId, position, resolve, reject });
        void drain();
      });
    },
    readPosition: () =>
      inTransaction(pool, async (client) => {
        const { rows } = await client.query(
          `select position from ${quoteName(schema)}.sluice_state`,
        );
        return Number(rows[0]?.['position'] ?? 0);
      }),
  };
}

/** Matches a version 7 UUID, which begins with the time of its creation. */
const DELIVERY_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const isDeliveryId = (id: unknown): boolean => typeof id === 'string' && DELIVERY_ID.test(id);

/** Returns whether this is the test webhook, which has an empty block. */
const isTest = ({ block }: AnyWebhook): boolean => block?.hash === '';

async function readDelivery(
  id: string,
  webhook: AnyWebhook,
  events: Events,
  given: readonly AbiItem[] | undefined,
): Promise<RowsOfDelivery> {
  const found = await events.find(given ?? ('abi' in webhook ? webhook.abi : undefined));
  const { rows, events: decoded } = readTables(webhook, found.abi);
  const eventRows = decoded.flatMap(({ event, row }) => {
    const table: Table | undefined = found.findTable(event);
    return table === undefined ? [] : { table, row };
  });
  return {
    id,
    isRemoval: 'removed' in webhook && (webhook.removed ?? false),
    blockHash: webhook.block.hash,
    // The ABI may change between a delivery and its removal.
    records: recordsKey(rows),
    rows: [...rows, ...eventRows],
  };
}

function takeBatch(waiting: Waiting[]): Waiting[] {
  let rows = 0;
  let count = 0;
  for (const { delivery } of waiting) {
    rows += delivery.rows.length;
    if (count > 0 && (count === WEBHOOKS_AT_ONCE || rows > ROWS_AT_ONCE)) break;
    count++;
  }
  return waiting.splice(0, count);
}

/** Writes webhooks in a transaction. Returns those of other streams with an error. */
async function writeIn(
  client: PostgresClient,
  schema: string,
  batch: readonly Waiting[],
): Promise<Map<Waiting, SluiceError>> {
  const target = (name: string): string => `${quoteName(schema)}.${name}`;
  // Locks the row, so that one process writes at a time.
  const { rows: state } = await client.query(
    `select stream_id from ${target('sluice_state')} for update`,
  );
  const streamId = (state[0]?.['stream_id'] as string | null) ?? batch[0]!.streamId;
  const own = batch.filter((each) => each.streamId === streamId);
  const refused = new Map(
    batch
      .filter((each) => each.streamId !== streamId)
      .map((each) => [each, ofOtherStream(schema, streamId, each.streamId)]),
  );
  const deliveries = own.map(({ delivery }) => delivery);
  const { rows: known } = await client.query(
    `select block_hash, records, delivery_id from ${target('sluice_removals')}
     where block_hash = any($1)`,
    [[...new Set(deliveries.map(({ blockHash }) => blockHash))]],
  );
  const { removals, writes } = mergeDeliveries(
    deliveries,
    new Map(
      known.map((row) => [
        removalKey(String(row['block_hash']), String(row['records'])),
        String(row['delivery_id']),
      ]),
    ),
  );
  if (removals.length > 0) await remove(client, schema, removals);
  const upsert = toUpsert(schema, writes);
  if (upsert !== undefined) await client.query(upsert.text, upsert.values);
  const position = Math.max(0, ...own.map((each) => each.position));
  if (position > 0 || state[0]?.['stream_id'] === null) {
    await client.query(
      `update ${target('sluice_state')} set stream_id = $1, position = greatest(position, $2)`,
      [streamId, position],
    );
  }
  return refused;
}

async function remove(
  client: PostgresClient,
  schema: string,
  removals: readonly RowsOfDelivery[],
): Promise<void> {
  // Another process may have added tables since this one read them.
  const { rows } = await client.query(
    `select table_name from ${quoteName(schema)}.sluice_events order by table_name`,
  );
  const eventTables = rows.map((row) => String(row['table_name']));
  for (const removal of removals) {
    await client.query(
      `insert into ${quoteName(schema)}.sluice_removals as t (block_hash, records, delivery_id)
       values ($1, $2, $3) on conflict (block_hash, records) do update
       set delivery_id = greatest(t.delivery_id, excluded.delivery_id)`,
      [removal.blockHash, removal.records, removal.id],
    );
    const statement = toDelete(schema, removal, eventTables);
    if (statement !== undefined) await client.query(statement.text, statement.values);
  }
}

const ofOtherStream = (schema: string, owner: string, other: string): SluiceError =>
  new SluiceError(
    'invalid_argument',
    `The schema "${schema}" has the rows of the stream ${owner}, not of ${other}.`,
    { hint: 'Use a schema for each stream.' },
  );

/** The tables of events, by ABI. */
interface Events {
  /**
   * Returns an ABI, which is the same object for each equal ABI so that it is compiled once, and
   * its tables.
   */
  find(abi: readonly AbiItem[] | undefined): Promise<AbiTables>;
  /** Forgets which tables exist. */
  clear(): void;
}

interface AbiTables {
  readonly abi: readonly AbiItem[];
  readonly findTable: FindTable;
}

function createEvents(catalog: Catalog): Events {
  const known = new Map<string, Promise<AbiTables>>();
  return {
    find(abi) {
      if (!hasItems(abi)) return Promise.resolve({ abi: [], findTable: () => undefined });
      const text = JSON.stringify(abi);
      const found =
        known.get(text) ??
        catalog.ensureEvents(abi).then((findTable) => ({ abi: [...abi], findTable }));
      found.catch(() => known.delete(text));
      // The oldest ABI is dropped first.
      known.delete(text);
      known.set(text, found);
      for (const oldest of known.keys()) {
        if (known.size <= ABIS) break;
        known.delete(oldest);
      }
      return found;
    },
    clear: () => known.clear(),
  };
}
