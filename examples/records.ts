/**
 * Writes the records of webhooks to a database, with statements for both SQLite and PostgreSQL.
 * `node -C @sluice/source examples/records.ts` listens on port 3000 and writes `records.sqlite`.
 */
import { createServer } from 'node:http';
import type { DatabaseSync } from 'node:sqlite';
import { isSluiceError, verifySignature } from '@sluice/kit';
import { type RecordSource, toRecords, toRemovedIds } from '@sluice/kit/records';

const everyRow = {
  id: 'text PRIMARY KEY',
  chainId: 'bigint',
  blockNumber: 'bigint',
  blockHash: 'text',
  blockTimestamp: 'bigint',
  // 1 or 0, because SQLite has no booleans.
  confirmed: 'integer NOT NULL',
};
const everyLog = { ...everyRow, transactionHash: 'text', logIndex: 'bigint' };
const parties = { contract: 'text', from: 'text', to: 'text' };

/**
 * The columns of each kind of record. Amounts are strings, because they can exceed any integer
 * type.
 */
const tables = {
  logs: { ...everyLog, address: 'text', name: 'text', parameters: 'text' },
  txs: { ...everyRow, hash: 'text', fromAddress: 'text', toAddress: 'text', value: 'text' },
  internalTxs: { ...everyRow, hash: 'text', from: 'text', to: 'text', value: 'text' },
  erc20Transfers: { ...everyLog, ...parties, value: 'text' },
  nftTransfers: { ...everyLog, ...parties, tokenId: 'text', amount: 'text' },
};
type Table = keyof typeof tables;
const kinds = Object.keys(tables) as Table[];

export interface Statement {
  sql: string;
  /** Values of `$1`, `$2`, … */
  values: (string | number | null)[];
}

export const createTables: readonly string[] = kinds.map((table) => {
  const columns = Object.entries(tables[table]).map(([name, type]) => `"${name}" ${type}`);
  return `CREATE TABLE IF NOT EXISTS "${table}" (${columns.join(', ')})`;
});

/**
 * Returns the statements that store a webhook's records, or delete them if the block was removed.
 */
export const statementsOf = (webhook: RecordSource): Statement[] =>
  webhook.removed ? deletions(webhook) : upserts(webhook);

/**
 * Returns an upsert for each row, because deliveries can repeat and come in any order. The id
 * prevents duplicate rows, and the condition keeps a late unconfirmed delivery from replacing a
 * confirmed row.
 */
function upserts(webhook: RecordSource): Statement[] {
  // Text from the chain may contain NUL, which PostgreSQL cannot store.
  const records = toRecords(webhook, { text: 'database' });
  return kinds.flatMap((table) => {
    const columns = Object.keys(tables[table]);
    const sql = `INSERT INTO "${table}" (${columns.map((name) => `"${name}"`).join(', ')})
      VALUES (${columns.map((_, at) => `$${at + 1}`).join(', ')})
      ON CONFLICT ("id") DO UPDATE SET ${columns.map((name) => `"${name}" = excluded."${name}"`).join(', ')}
      WHERE excluded."confirmed" >= "${table}"."confirmed"`;
    return records[table].map((row) => {
      const values: Record<string, unknown> = { ...row, parameters: JSON.stringify(row) };
      return { sql, values: columns.map((name) => toSql(values[name])) };
    });
  });
}

/**
 * Returns statements that delete only rows of the removed block; rows of its replacement have a
 * different hash.
 */
function deletions(webhook: RecordSource): Statement[] {
  const { blockHash, ...ids } = toRemovedIds(webhook);
  return kinds.flatMap((table) => {
    const sql = `DELETE FROM "${table}" WHERE "id" = $1 AND "blockHash" = $2`;
    return ids[table].map((id) => ({ sql, values: [id, blockHash] }));
  });
}

const toSql = (value: unknown): string | number | null =>
  typeof value === 'boolean' ? Number(value) : ((value ?? null) as string | number | null);

/** Writes a webhook in one transaction. */
export function writeToSqlite(database: DatabaseSync, webhook: RecordSource): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const { sql, values } of statementsOf(webhook)) {
      const named = Object.fromEntries(values.map((value, at) => [`$${at + 1}`, value]));
      database.prepare(sql).run(named);
    }
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

if (import.meta.main) {
  const { SLUICE_SECRET: secret = '' } = process.env;
  // Loaded here, because other programs use the statements with other databases and on older Node.
  const sqlite = await import('node:sqlite');
  const database = new sqlite.DatabaseSync('records.sqlite');
  for (const sql of createTables) database.exec(sql);
  const server = createServer(async (request, response) => {
    try {
      const body = Buffer.concat(await request.toArray()).toString();
      verifySignature({ body, signature: String(request.headers['x-signature']), secret });
      writeToSqlite(database, JSON.parse(body) as RecordSource);
      response.end();
    } catch (error) {
      // After any response except a success, the service delivers the webhook again.
      response.writeHead(isSluiceError(error) ? 401 : 500).end(String(error));
    }
  });
  server.listen(3000, '127.0.0.1');
}
