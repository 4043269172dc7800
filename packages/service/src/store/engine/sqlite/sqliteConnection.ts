/** A connection to a SQLite file for Kysely. */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import {
  Kysely,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { toLedgerValue } from '../ledgerText.ts';
import type { Tables } from '../../tables/tables.ts';

/** Maximum number of cached statements per connection. The ledger uses fewer. */
const PREPARED_STATEMENTS = 200;

/**
 * Makes Kysely run migrations in a transaction, so that a failed migration leaves no changes.
 * Kysely assumes that SQLite cannot change a schema in a transaction, but it can.
 */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/**
 * Uses savepoints as transactions, because writes that share a transaction (`sqliteWorker.ts`) must
 * be able to fail separately. Without a shared transaction, a savepoint is a transaction.
 */
class SavepointDriver extends SqliteDriver {
  readonly #sqlite: DatabaseSync;

  constructor(sqlite: DatabaseSync, database: SqliteDatabase) {
    super({ database });
    this.#sqlite = sqlite;
  }

  override beginTransaction(): Promise<void> {
    return this.#execute('savepoint transaction_part');
  }

  override commitTransaction(): Promise<void> {
    return this.#execute('release transaction_part');
  }

  override async rollbackTransaction(): Promise<void> {
    // On a full disk, SQLite has already rolled back, and a second rollback would hide the error.
    if (!this.#sqlite.isTransaction) return;
    await this.#execute('rollback to transaction_part; release transaction_part');
  }

  async #execute(statements: string): Promise<void> {
    this.#sqlite.exec(statements);
  }
}

type PreparedStatement = ReturnType<SqliteDatabase['prepare']>;

/**
 * Adapts a statement for Kysely. Reads rows as arrays, because `node:sqlite` is slower at creating
 * and reading objects.
 */
function toPrepared(statement: StatementSync): PreparedStatement {
  const names = statement.columns().map(({ name }) => name);
  statement.setReturnArrays(true);
  const toRow = (values: unknown): Record<string, unknown> => {
    const row: Record<string, unknown> = {};
    for (let n = 0; n < names.length; n++) row[names[n]!] = (values as unknown[])[n];
    return row;
  };
  const bind = (parameters: readonly unknown[]) => parameters.map(toLedgerValue) as SQLInputValue[];
  return {
    reader: names.length > 0,
    all: (parameters) => statement.all(...bind(parameters)).map(toRow),
    run: (parameters) => statement.run(...bind(parameters)),
    *iterate(parameters) {
      for (const values of statement.iterate(...bind(parameters))) yield toRow(values);
    },
  };
}

/** Opens a SQLite connection and a Kysely database on it. Destroying `db` closes the connection. */
export function openSqlite(
  path: string,
  readOnly: boolean,
): { db: Kysely<Tables>; sqlite: DatabaseSync } {
  const sqlite = new DatabaseSync(path, { readOnly, timeout: 10_000 });
  if (!readOnly) {
    // With FULL, a committed transaction survives a power loss. Checkpoints run every 40 MB of log
    // instead of every 4 MB, so that fewer commits wait for a checkpoint.
    sqlite.exec(
      'pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = 10000',
    );
  }
  sqlite.exec(
    'pragma cache_size = -65536; pragma temp_store = memory; pragma mmap_size = 268435456',
  );
  const prepared = new Map<string, PreparedStatement>();
  const prepare = (text: string): PreparedStatement => {
    let statement = prepared.get(text);
    if (statement === undefined) {
      statement = toPrepared(sqlite.prepare(text));
      prepared.set(text, statement);
      if (prepared.size > PREPARED_STATEMENTS) prepared.delete(prepared.keys().next().value!);
    }
    return statement;
  };
  const database: SqliteDatabase = { close: () => sqlite.close(), prepare };
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new TransactionalAdapter(),
      createDriver: () => new SavepointDriver(sqlite, database),
      createIntrospector: (of) => new SqliteIntrospector(of),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  return { db, sqlite };
}
