/** The ledger in PostgreSQL 15 or later, which processes on several machines can share. */
import { Kysely, PostgresDialect } from 'kysely';
import type { Tables } from '../../tables/tables.ts';
import type { Store } from '../../store.ts';
import { postgresEngine } from './postgresEngine.ts';
import { migrateInTurn } from './postgresMigrations.ts';
import { type Transact, createEffects } from '../../live/effects.ts';
import { createQueueChanges } from '../../live/queueChanges.ts';
import { createPostgresFeed } from './postgresFeed.ts';
import { createPostgresSignals } from './postgresSignals.ts';
import { refuseTransactionPooler } from './postgresPooler.ts';
import { hostsOf, toStartError } from './postgresStart.ts';
import { createServers } from './postgresServers.ts';
import { DEFAULT_LEDGER_LIMITS, type LedgerLimits } from '../../live/limits.ts';
import { createReads, createWrites } from '../../statements.ts';

/**
 * Opens and migrates the ledger at `url` (`postgres://user:password@host:port/database`, or
 * `host:port,host:port` for several servers, of which the primary is used).
 *
 * @throws CallerError if the URL is invalid, no writable server can be reached, the server rejects
 * the user or the database, or another version or build of the program created the ledger.
 */
export async function openPostgresStore(
  url: string,
  limits: LedgerLimits = DEFAULT_LEDGER_LIMITS,
): Promise<Store> {
  try {
    await migrateAt(url);
  } catch (error) {
    throw toStartError(error, url);
  }
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: createServers(url) }) });
  const signals = createPostgresSignals(url);
  const events = createPostgresFeed(db, signals);
  const queueChanges = createQueueChanges();
  const transact: Transact = async (work) => {
    const effects = createEffects();
    const { committed } = effects;
    const result = await db.transaction().execute(async (trx) => {
      const worked = await work(trx, effects);
      if (committed.events.length > 0) await events.append(trx, committed.events);
      return worked;
    });
    queueChanges.report(committed.queued);
    if (committed.events.length > 0) events.signal();
    signals.send(committed.signals);
    return result;
  };
  return {
    engine: 'postgres',
    isShared: postgresEngine.isShared,
    place: url,
    files: undefined,
    explainError: (error) => error,
    signals,
    events,
    queueChanges,
    ...createReads(db, postgresEngine),
    ...createWrites({ db, engine: postgresEngine, transact, ...limits }),
    async close() {
      events.close();
      await signals.close();
      await db.destroy();
    },
  };
}

async function migrateAt(url: string): Promise<void> {
  const pool = createServers(url, { isPatient: true });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    await refuseTransactionPooler(pool, hostsOf(url));
    await migrateInTurn(db);
  } finally {
    await db.destroy();
  }
}
