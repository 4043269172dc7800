/**
 * Merges the webhooks of a transaction into the rows to write and delete.
 *
 * IDs of deliveries sort by creation, and on each chain deliveries are created in the order in which
 * the chain changed: a removal after the deliveries that it revokes, and before those of the
 * returned block. So the newest ID that concerns a row decides, in whichever order webhooks arrive.
 */
import { sha256Hex } from '../records/ids.ts';
import type { AnyRow, Table } from './table.ts';

/** A webhook as rows. */
export interface RowsOfDelivery {
  readonly id: string;
  readonly isRemoval: boolean;
  readonly blockHash: string;
  /** Identifies the records, which are the same in all deliveries of a match and its removal. */
  readonly records: string;
  readonly rows: readonly { readonly table: Table; readonly row: AnyRow }[];
}

/** Returns the key of the records with these rows. */
export const recordsKey = (rows: readonly { readonly row: AnyRow }[]): string =>
  sha256Hex(rows.map(({ row }) => row.id).join());

/** A row to write, unless a newer delivery has written it. */
export interface Write {
  readonly table: Table;
  readonly row: AnyRow;
  readonly deliveryId: string;
  readonly confirmed: boolean;
}

export interface Changes {
  /** Removals, whose rows are deleted before the rows of `writes` are written. */
  readonly removals: readonly RowsOfDelivery[];
  readonly writes: readonly Write[];
}

/** Returns the key of a removal in {@link mergeDeliveries}. */
export const removalKey = (blockHash: string, records: string): string => `${blockHash} ${records}`;

/**
 * Merges webhooks as if they were written one after the other, in the order of their IDs.
 *
 * @param known IDs of the newest removals, by {@link removalKey}
 */
export function mergeDeliveries(
  deliveries: readonly RowsOfDelivery[],
  known: ReadonlyMap<string, string>,
): Changes {
  const newest = new Map(known);
  const removals = deliveries.filter(({ isRemoval }) => isRemoval);
  for (const { id, blockHash, records } of removals) {
    const key = removalKey(blockHash, records);
    const removal = newest.get(key);
    if (removal === undefined || removal < id) newest.set(key, id);
  }
  /** Rows by ID, then by table: a log has one ID in the table of its event and in `logs`. */
  const writes = new Map<string, Map<string, Write>>();
  for (const delivery of deliveries.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const { id, isRemoval, blockHash, records, rows } = delivery;
    if (isRemoval) {
      for (const { row } of rows) {
        const tables = writes.get(row.id);
        for (const [name, write] of tables ?? []) {
          if (write.row.blockHash === blockHash) tables?.delete(name);
        }
      }
      continue;
    }
    const removal = newest.get(removalKey(blockHash, records));
    if (removal !== undefined && id < removal) continue;
    for (const { table, row } of rows) {
      const tables = writes.get(row.id) ?? new Map<string, Write>();
      writes.set(row.id, tables);
      const before = tables.get(table.name);
      const wasConfirmed = before?.row.blockHash === row.blockHash && before.confirmed;
      const confirmed = (row.confirmed ?? true) || wasConfirmed;
      tables.set(table.name, { table, row, deliveryId: id, confirmed });
    }
  }
  return { removals, writes: [...writes.values()].flatMap((tables) => [...tables.values()]) };
}
