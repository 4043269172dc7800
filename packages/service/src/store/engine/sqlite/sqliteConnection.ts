/** One connection to a SQLite file, as Kysely uses it. */
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
import type { Tables } from '../tables.ts';

/** Statements kept prepared per connection; the ledger has fewer than this. */
const PREPARED_STATEMENTS = 200;

/** Kysely holds SQLite for unable to change a schema in a transaction; a step that fails leaves nothing. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** A transaction on its own, and a part of one that several share (`sqliteWorker.ts`), begin and end alike. */
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
    // A full disk has already rolled back: the reason is to be told, not that nothing is left to.
    if (!this.#sqlite.isTransaction) return;
    await this.#execute('rollback to transaction_part; release transaction_part');
  }

  async #execute(statements: string): Promise<void> {
    this.#sqlite.exec(statements);
  }
}

type PreparedStatement = ReturnType<SqliteDatabase['prepare']>;

/**
 * As Kysely runs a statement. Its rows are read as lists and made into objects here: those of `node:sqlite`
 * are dictionaries, which cost more to make, and three times as much to read.
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

/** A Kysely database over `node:sqlite`, and what is below it. The caller destroys the first, with both. */
export function openSqlite(
  path: string,
  readOnly: boolean,
): { db: Kysely<Tables>; sqlite: DatabaseSync } {
  const sqlite = new DatabaseSync(path, { readOnly, timeout: 10_000 });
  if (!readOnly) {
    // FULL: a commit that was answered survives the loss of power, not only of the process.
    // Checkpoints every 40 MB of log, not every 4, so that fewer commits wait for one.
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
