/** Creates and migrates the tables of a schema. */
import { readEvents } from '../contract/rules/abi/readAbi.ts';
import type { EventItem } from '../contract/rules/abi/readAbi.ts';
import { parameterNames } from '../contract/rules/abi/values.ts';
import type { AbiItem } from '../contract/shapes.generated.ts';
import {
  TABLES_BY_FAMILY,
  type TableFamily,
  eventSignature,
  eventTableName,
  toEventTable,
} from '../families/tables.ts';
import { COLUMN_TYPES } from './columns.ts';
import { quoteName, withHash } from './identifiers.ts';
import { type PostgresClient, type PostgresPool, inTransaction } from './pool.ts';
import { type Table, createStatement } from './table.ts';

/** Returns the table of an event; undefined for events without one. */
export type FindTable = (event: EventItem) => Table | undefined;

/**
 * Maximum number of parameters of an event with a table, because PostgreSQL limits the size of a
 * row. Logs of events with more are only in the table `logs`.
 */
const MAX_PARAMETERS = 200;

/** Number of events whose tables are created in one transaction, which needs locks for each. */
const EVENTS_AT_ONCE = 100;

/** Types of columns by table and name. */
type Existing = ReadonlyMap<string, Map<string, string>>;

export interface Catalog {
  /** Creates the tables of a family, and adds columns that they lack. */
  ensureFamily(family: TableFamily): Promise<void>;
  /** Creates the tables of the events of an ABI, and adds columns that they lack. */
  ensureEvents(abi: readonly AbiItem[]): Promise<FindTable>;
}

export function createCatalog(pool: PostgresPool, schema: string): Catalog {
  const target = (name: string): string => `${quoteName(schema)}.${quoteName(name)}`;

  /** Runs work while no other process changes the tables of the schema. */
  const whileLocked = <Result>(
    work: (client: PostgresClient, existing: Existing) => Promise<Result>,
  ): Promise<Result> =>
    inTransaction(pool, async (client) => {
      await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
        `sluice tables ${schema}`,
      ]);
      return await work(client, await readColumns(client, schema));
    });

  const ensure = async (
    client: PostgresClient,
    table: Table,
    existing: Existing,
  ): Promise<void> => {
    const statement = createStatement(schema, table, existing.get(table.name));
    if (statement !== undefined) await client.query(statement);
  };

  return {
    ensureFamily: (family) =>
      whileLocked(async (client, existing) => {
        // `create schema if not exists` needs the right to create schemas even if it exists.
        const { rows } = await client.query('select 1 from pg_namespace where nspname = $1', [
          schema,
        ]);
        if (rows.length === 0) await client.query(`create schema ${quoteName(schema)}`);
        if (!existing.has('sluice_state')) {
          await client.query(`
            create table ${target('sluice_state')} (
              only_row boolean primary key default true check (only_row),
              stream_id text,
              position bigint not null default 0
            )`);
          await client.query(`insert into ${target('sluice_state')} default values`);
          await client.query(`
            create table ${target('sluice_removals')} (
              block_hash text, records text, delivery_id uuid not null,
              primary key (block_hash, records)
            )`);
          await client.query(`
            create table ${target('sluice_events')} (
              signature text primary key, table_name text not null unique
            )`);
        }
        for (const table of TABLES_BY_FAMILY[family]) await ensure(client, table, existing);
      }),
    async ensureEvents(abi) {
      const tables = new Map<string, Table>();
      const events = readEvents(abi).filter(({ inputs = [] }) => inputs.length <= MAX_PARAMETERS);
      for (let at = 0; at < events.length; at += EVENTS_AT_ONCE) {
        await whileLocked(async (client, existing) => {
          const { rows } = await client.query(
            `select signature, table_name from ${target('sluice_events')}`,
          );
          const names = new Map(
            rows.map((row) => [String(row['signature']), String(row['table_name'])]),
          );
          for (const event of events.slice(at, at + EVENTS_AT_ONCE)) {
            const key = keyOf(event);
            if (tables.has(key)) continue;
            const name = await ensureName(client, event, names);
            const columns = existing.get(name);
            const table = toEventTable(event, name, (column, type) => {
              const known = columns?.get(column);
              return known === undefined || known === COLUMN_TYPES[type].sql;
            });
            await ensure(client, table, existing);
            // Another event of this ABI may share the table.
            const added = table.columns.map(
              ({ name, type }) => [name, COLUMN_TYPES[type].sql] as const,
            );
            (existing as Map<string, Map<string, string>>).set(
              name,
              new Map([...(columns ?? []), ...added, ['delivery_id', 'uuid']]),
            );
            tables.set(key, table);
          }
        });
      }
      const found = new WeakMap<EventItem, Table>();
      return (event) => {
        const known = found.get(event) ?? tables.get(keyOf(event));
        if (known !== undefined) found.set(event, known);
        return known;
      };
    },
  };

  /** Returns the name of an event's table, which never changes. */
  async function ensureName(
    client: PostgresClient,
    event: EventItem,
    names: Map<string, string>,
  ): Promise<string> {
    const signature = eventSignature(event);
    const known = names.get(signature);
    if (known !== undefined) return known;
    const taken = new Set(names.values());
    const plain = eventTableName(event);
    let name = plain;
    for (let distinct = signature; taken.has(name); distinct = name) {
      name = withHash(plain, distinct);
    }
    await client.query(
      `insert into ${target('sluice_events')} (signature, table_name) values ($1, $2)`,
      [signature, name],
    );
    names.set(signature, name);
    return name;
  }
}

/** Identifies the columns of an event: its signature and the names of its parameters. */
const keyOf = (event: EventItem): string =>
  JSON.stringify([eventSignature(event), parameterNames(event.inputs ?? [])]);

async function readColumns(client: PostgresClient, schema: string): Promise<Existing> {
  const { rows } = await client.query(
    `select relname, attname, format_type(atttypid, atttypmod) as type
     from pg_attribute
       join pg_class on pg_class.oid = attrelid
       join pg_namespace on pg_namespace.oid = relnamespace
     where nspname = $1 and relkind in ('r', 'p') and attnum > 0 and not attisdropped`,
    [schema],
  );
  const columns = new Map<string, Map<string, string>>();
  for (const row of rows) {
    const [table, column, type] = [row['relname'], row['attname'], row['type']].map(String) as [
      string,
      string,
      string,
    ];
    const known = columns.get(table);
    if (known) known.set(column, type);
    else columns.set(table, new Map([[column, type]]));
  }
  return columns;
}
