/** Reads the ledger with plain SQL, so that the checks do not depend on the service's own code. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';

export type LedgerRow = Record<string, string | number | null>;

export interface Ledger {
  /**
   * Runs a query that works on both engines, and returns its rows, with numeric columns as numbers.
   */
  rows<Row extends object = LedgerRow>(select: string): Promise<Row[]>;
  /** Returns the first column of the first row as a number; NaN without a row. */
  value(select: string): Promise<number>;
  /**
   * Returns the current Unix time in milliseconds: from the PostgreSQL server, or with SQLite from
   * this process.
   */
  now(): Promise<number>;
}

/**
 * Reads the SQLite ledger in a data folder, even while the service writes to it. Before the ledger
 * exists, queries return no rows.
 */
export function readSqliteLedger(folder: string): Ledger {
  const path = join(folder, 'sluice.db');
  return toLedger(
    (select) => {
      if (!existsSync(path)) return Promise.resolve([]);
      const db = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
      try {
        return Promise.resolve(db.prepare(select).all() as LedgerRow[]);
      } finally {
        db.close();
      }
    },
    () => Promise.resolve(Date.now()),
  );
}

/**
 * Reads a PostgreSQL ledger. Each query opens a new connection, so that reads work again after a
 * server failure or a failover.
 */
export function readPostgresLedger(url: () => string): Ledger {
  const query = async (select: string): Promise<LedgerRow[]> => {
    const client = new pg.Client({
      connectionString: url(),
      types: {
        getTypeParser: (oid, format) =>
          oid === pg.types.builtins.INT8 || oid === pg.types.builtins.NUMERIC
            ? Number
            : pg.types.getTypeParser(oid, format),
      },
    });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query<LedgerRow>(select)).rows;
    } finally {
      await client.end();
    }
  };
  return toLedger(query, async () => {
    const [row] = await query('select (extract(epoch from clock_timestamp()) * 1000)::bigint as n');
    return Number(row!['n']);
  });
}

function toLedger(
  query: (select: string) => Promise<LedgerRow[]>,
  now: () => Promise<number>,
): Ledger {
  return {
    rows: async <Row extends object>(select: string) => (await query(select)) as Row[],
    async value(select) {
      const [row] = await query(select);
      return Number(Object.values(row ?? { n: Number.NaN })[0]);
    },
    now,
  };
}

/** Leases that were outstanding when a service process or its database went down. */
export interface LostLeases {
  /**
   * Number of lost leases by delivery ID, which limits how often the delivery may have been resent.
   */
  readonly byDelivery: ReadonlyMap<string, number>;
  readonly total: number;
  /** Records the leases that are outstanding now, and returns how many of them are new. */
  note(): Promise<number>;
}

export function createLostLeases(ledger: Ledger): LostLeases {
  const noted = new Set<string>();
  const byDelivery = new Map<string, number>();
  return {
    byDelivery,
    get total() {
      return noted.size;
    },
    async note() {
      const leases = await ledger.rows<{ id: string; token: string }>(
        "select id, lease_token as token from delivery where state = 'leased'",
      );
      const before = noted.size;
      for (const { id, token } of leases) {
        if (noted.has(`${id} ${token}`)) continue;
        noted.add(`${id} ${token}`);
        byDelivery.set(id, (byDelivery.get(id) ?? 0) + 1);
      }
      return noted.size - before;
    },
  };
}
