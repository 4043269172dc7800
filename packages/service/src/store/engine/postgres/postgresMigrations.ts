import { type Kysely, sql } from 'kysely';
import { migrate } from '../migrations.ts';
import { retryDeadlocks } from './postgresDeadlocks.ts';

const LOCK = 'migrations';

/**
 * Migrates the database, as {@link migrate} does. If several processes start at once, one of them
 * migrates and the others wait.
 */
export async function migrateInTurn(
  db: Kysely<unknown>,
  ...more: Parameters<typeof migrate> extends [unknown, ...infer More] ? More : never
): Promise<void> {
  // The lock also covers Kysely's introspection, which fails while another process changes tables.
  await db.connection().execute(async (connection) => {
    await sql`select pg_advisory_lock(hashtext(${LOCK}))`.execute(connection);
    try {
      // Running processes can use the tables in another order than the migration locks them.
      await retryDeadlocks(() => migrate(connection, ...more));
    } finally {
      await sql`select pg_advisory_unlock(hashtext(${LOCK}))`.execute(connection);
    }
  });
}
