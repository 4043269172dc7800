/**
 * Writes webhooks to PostgreSQL at `DATABASE_URL`, with the tables and statements of `records.ts`.
 * Each webhook is written in one transaction; if that fails, the service delivers the webhook
 * again.
 */
import { createServer } from 'node:http';
import { createHandler } from '@sluice/kit';
import { toNodeListener } from '@sluice/kit/node';
import type { RecordSource } from '@sluice/kit/records';
import pg from 'pg';
import { createTables, statementsOf } from './records.ts';

const { DATABASE_URL: connectionString, SLUICE_SECRET: secret = '', PORT = '3000' } = process.env;
const pool = new pg.Pool({ connectionString });
for (const sql of createTables) await pool.query(sql);

async function write(webhook: RecordSource): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    for (const { sql, values } of statementsOf(webhook)) await client.query(sql, values);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

// Row ids make repeated deliveries harmless, so the handler need not remember webhook ids.
const handler = createHandler({ secret, seen: false })
  .onWebhook({ unconfirmed: write, confirmed: write })
  .onRemoved(write);
createServer(toNodeListener(handler)).listen(Number(PORT), '127.0.0.1');
