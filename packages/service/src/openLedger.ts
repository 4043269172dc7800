/** Opens the ledger with the engine that the settings choose. No other part names an engine. */
import type { Config } from './config/config.ts';
import { openPostgresStore } from './store/engine/postgres/postgres.ts';
import { openSqliteStore } from './store/engine/sqlite/sqlite.ts';
import type { Store } from './store/store.ts';

/** @throws CallerError if the ledger cannot be opened */
export const openLedger = ({ data, databaseUrl, maxChildren }: Config): Promise<Store> =>
  databaseUrl === undefined
    ? openSqliteStore(data, { maxChildren })
    : openPostgresStore(databaseUrl, { maxChildren });
