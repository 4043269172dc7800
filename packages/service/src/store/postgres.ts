/** The ledger in PostgreSQL 15 or later, for more than one machine. */
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Tables } from './tables.ts';
import type { Store } from './store.ts';
import { postgresEngine } from './engine.ts';
import { migrate } from './migrations.ts';
import { createReads } from './reads.ts';
import { createWrites } from './writes.ts';

/**
 * Opens the ledger at `url` (`postgres://user:password@host:port/database`) and migrates it.
 *
 * @throws when the server cannot be reached or refuses the login.
 */
export async function openPostgresStore(url: string): Promise<Store> {
  const pool = new pg.Pool({
    connectionString: url,
    max: 10,
    // Every bigint of the ledger is a block number or a time in milliseconds: below 2^53.
    types: {
      getTypeParser: (oid, format) =>
        oid === pg.types.builtins.INT8
          ? (text: string) => Number(text)
          : pg.types.getTypeParser(oid, format),
    },
  });
  // A connection that breaks is replaced at the next query, and a query under way on it rejects. Unheard,
  // its error would end the process: while it is idle the pool hears it, between two queries of a
  // transaction nobody else does.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    await migrate(db as unknown as Kysely<unknown>);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return {
    engine: 'postgres',
    ...createReads(db, postgresEngine),
    ...createWrites(db, postgresEngine),
    close: () => db.destroy(),
  };
}
