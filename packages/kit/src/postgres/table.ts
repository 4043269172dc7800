/** Tables, and the rows that a webhook writes to them. */
import type { EventItem } from '../contract/rules/abi/readAbi.ts';
import { COLUMN_TYPES } from './columns.ts';
import type { ColumnType } from './columns.ts';
import { quoteName, toSnakeCase } from './identifiers.ts';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** Property of a row that contains the value. */
  readonly property: string;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Whether rows are confirmed by a later delivery. */
  readonly isConfirmed: boolean;
}

/** A row of `toRecords`. */
export interface AnyRow {
  readonly id: string;
  readonly blockHash: string;
  readonly confirmed?: boolean;
}

/** The column type of each property of a row. */
export type ColumnTypes<Row> = { readonly [Property in keyof Row]-?: ColumnType };

/** Describes the table of a kind of rows. Its columns are the properties in snake case. */
export const toTable = <Row extends AnyRow>(name: string, types: ColumnTypes<Row>): Table => ({
  name,
  columns: Object.entries<ColumnType>(types).map(([property, type]) => ({
    name: toSnakeCase(property),
    type,
    property,
  })),
  isConfirmed: 'confirmed' in types,
});

/** The rows of one webhook. */
export interface WebhookRows {
  readonly rows: readonly { readonly table: Table; readonly row: AnyRow }[];
  /** Decoded logs with their events. */
  readonly events: readonly { readonly event: EventItem; readonly row: AnyRow }[];
}

/** Column with the ID of the delivery that wrote a row. IDs sort by time of creation. */
export const DELIVERY_COLUMN = 'delivery_id';

/** Returns the definitions of the columns of a new table, by name. */
function columnDefinitions({ columns }: Table): ReadonlyMap<string, string> {
  const definitions = columns.map(({ name, type }): [string, string] => {
    const { sql } = COLUMN_TYPES[type];
    if (name === 'id') return [name, `${sql} primary key`];
    return [name, name === 'block_hash' || name === 'confirmed' ? `${sql} not null` : sql];
  });
  return new Map([...definitions, [DELIVERY_COLUMN, 'uuid not null']]);
}

/** Returns a statement that creates a table, or adds the columns that it lacks. */
export function createStatement(
  schema: string,
  table: Table,
  existing: ReadonlyMap<string, string> | undefined,
): string | undefined {
  const definitions = [...columnDefinitions(table)];
  const target = `${quoteName(schema)}.${quoteName(table.name)}`;
  const define = ([name, sql]: readonly [string, string]): string => `${quoteName(name)} ${sql}`;
  if (existing === undefined)
    return `create table ${target} (${definitions.map(define).join(', ')})`;
  const missing = definitions.filter(([name]) => !existing.has(name));
  if (missing.length === 0) return undefined;
  return `alter table ${target} ${missing.map((each) => `add column ${define(each)}`).join(', ')}`;
}
