import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables/tables.ts';

/** Returns as many of the first rows as fit into this number of bytes, but at least one. */
export function takeRowsWithin<Row extends { bytes: number }>(
  rows: readonly Row[],
  mostBytes: number,
): Row[] {
  let bytes = 0;
  const over = rows.findIndex((row, n) => (bytes += row.bytes) > mostBytes && n > 0);
  return over < 0 ? [...rows] : rows.slice(0, over);
}

export async function countRows(
  db: Kysely<Tables>,
  table: keyof Tables,
  where: ReturnType<typeof sql>,
): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from ${sql.table(table)} where ${where}`.execute(db);
  return rows[0]?.n ?? 0;
}
