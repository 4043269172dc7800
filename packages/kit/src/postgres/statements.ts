/** The statements that write and delete rows. */
import type { Changes, RowsOfDelivery, Write } from './changes.ts';
import { COLUMN_TYPES } from './columns.ts';
import { quoteName } from './identifiers.ts';
import { DELIVERY_COLUMN, type AnyRow, type Table } from './table.ts';

export interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/** Returns one statement that writes rows to all their tables; undefined without rows. */
export function toUpsert(schema: string, writes: Changes['writes']): Statement | undefined {
  const byTable = new Map<Table, Write[]>();
  for (const write of writes) {
    const rows = byTable.get(write.table);
    if (rows) rows.push(write);
    else byTable.set(write.table, [write]);
  }
  if (byTable.size === 0) return undefined;
  const tables = [...byTable];
  return {
    text: together(tables.map(([table], position) => upsertInto(schema, table, position + 1))),
    values: tables.map(([table, rows]) => JSON.stringify(rows.map((row) => toRecord(table, row)))),
  };
}

/** Combines statements into one that executes all of them. */
const together = (statements: readonly string[]): string =>
  `with ${statements.map((text, n) => `w${n} as (${text})`).join(', ')} select`;

/** Names of a row's values in JSON are short, because they are in each row. */
const keyAt = (position: number): string => `c${position}`;

function toRecord(table: Table, { row, deliveryId, confirmed }: Write): object {
  const record: Record<string, unknown> = { d: deliveryId };
  for (const [position, { property, type }] of table.columns.entries()) {
    const value = property === 'confirmed' ? confirmed : valueOf(row, property);
    record[keyAt(position)] = COLUMN_TYPES[type].toCell(value);
  }
  return record;
}

/** Returns a row's own property, because a parameter may be called `toString`. */
const valueOf = (row: AnyRow, property: string): unknown =>
  Object.hasOwn(row, property) ? row[property as keyof AnyRow] : undefined;

/**
 * A newer delivery replaces a row. An older one only confirms the row, if it is of the same block.
 */
function upsertInto(schema: string, { name, columns, isConfirmed }: Table, parameter: number) {
  const names = [...columns.map(({ name }) => quoteName(name)), DELIVERY_COLUMN];
  const read = columns.map(({ type }, n) =>
    COLUMN_TYPES[type].sql === 'jsonb' ? `x.${keyAt(n)}::jsonb` : `x.${keyAt(n)}`,
  );
  const given = columns.map(({ type }, n) => {
    const { sql } = COLUMN_TYPES[type];
    // A JSON text that is read as `jsonb` would become a JSON string.
    return `${keyAt(n)} ${sql === 'jsonb' ? 'text' : sql}`;
  });
  const isNewer = `excluded.${DELIVERY_COLUMN} > t.${DELIVERY_COLUMN}`;
  const isSameBlock = 'excluded.block_hash = t.block_hash';
  const set = columns
    .filter((column) => column.name !== 'id')
    .map((column) => {
      const quoted = quoteName(column.name);
      return column.name === 'confirmed' && isConfirmed
        ? `confirmed = excluded.confirmed or t.confirmed and ${isSameBlock}`
        : `${quoted} = excluded.${quoted}`;
    });
  const confirms = `excluded.confirmed and not t.confirmed and ${isSameBlock}`;
  return `
    insert into ${quoteName(schema)}.${quoteName(name)} as t (${names.join(', ')})
    select ${read.join(', ')}, x.d
    from json_to_recordset($${parameter}::json) as x(${given.join(', ')}, d uuid)
    on conflict (id) do update set ${set.join(', ')},
      ${DELIVERY_COLUMN} = greatest(excluded.${DELIVERY_COLUMN}, t.${DELIVERY_COLUMN})
    where ${isNewer}${isConfirmed ? ` or ${confirms}` : ''}`;
}

/**
 * Returns one statement that deletes the rows of a removed block, unless a newer delivery has
 * written them; undefined without rows.
 *
 * @param eventTables names of all tables of events, because the ABI may have changed
 */
export function toDelete(
  schema: string,
  { id, blockHash, rows }: RowsOfDelivery,
  eventTables: readonly string[],
): Statement | undefined {
  const ids = new Map<string, Set<string>>();
  const add = (table: string, row: AnyRow): void => {
    const known = ids.get(table);
    if (known) known.add(row.id);
    else ids.set(table, new Set([row.id]));
  };
  for (const { table, row } of rows) {
    add(table.name, row);
    if (table.name === 'logs') for (const each of eventTables) add(each, row);
  }
  if (ids.size === 0) return undefined;
  const tables = [...ids];
  const lists = [...new Set(tables.map(([, set]) => set))];
  return {
    text: together(
      tables.map(
        ([table, set]) => `
        delete from ${quoteName(schema)}.${quoteName(table)}
        where block_hash = $1 and ${DELIVERY_COLUMN} < $2 and id = any($${lists.indexOf(set) + 3})`,
      ),
    ),
    values: [blockHash, id, ...lists.map((set) => [...set])],
  };
}
