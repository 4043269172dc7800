/** Creates temporary ledgers for benchmarks, with production durability. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@sluice/testkit';
import pg from 'pg';
import { openPostgresStore } from '../../packages/service/src/store/engine/postgres/postgres.ts';
import { openSqliteStore } from '../../packages/service/src/store/engine/sqlite/sqlite.ts';
import type { Store } from '../../packages/service/src/store/store.ts';

export type EngineName = Store['engine'];

export interface Ledger {
  store: Store;
  /** Reads what the database server has used so far; undefined for SQLite, which has no server. */
  readUse: (() => Promise<ServerUse>) | undefined;
}

export interface ServerUse {
  /** Processor time of the server's processes in microseconds. */
  cpuUs: number;
  walBytes: number;
  /** Size of the database with its indexes. */
  diskBytes: number;
}

/**
 * Runs `work` on a new ledger: SQLite with `synchronous=FULL`, or PostgreSQL with its default
 * durability.
 */
export async function withLedger<T>(
  engine: EngineName,
  work: (ledger: Ledger) => Promise<T>,
): Promise<T> {
  if (engine === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
    const store = await openSqliteStore(folder);
    try {
      return await work({ store, readUse: undefined });
    } finally {
      await store.close();
      rmSync(folder, { recursive: true });
    }
  }
  return withPostgres(async ({ url, readUse }) => {
    const store = await openPostgresStore(url);
    try {
      return await work({ store, readUse });
    } finally {
      await store.close();
    }
  });
}

/**
 * Runs `work` with a PostgreSQL server that syncs each commit to disk, which is PostgreSQL's
 * default.
 */
export async function withPostgres<T>(
  work: (server: { url: string; readUse: () => Promise<ServerUse> }) => Promise<T>,
): Promise<T> {
  const postgres = await startPostgres({ settings: { fsync: 'on' } });
  const client = new pg.Client({ connectionString: postgres.url });
  try {
    await client.connect();
    const readUse = async (): Promise<ServerUse> => {
      const { rows } = await client.query<{ wal: string; disk: string }>(`
        select pg_current_wal_insert_lsn() - '0/0' as wal,
          pg_database_size(current_database()) as disk`);
      const [{ wal, disk } = { wal: '0', disk: '0' }] = rows;
      const cpuUs = readTreeCpuUs(postgres.pid);
      return { cpuUs, walBytes: Number(wal), diskBytes: Number(disk) };
    };
    return await work({ url: postgres.url, readUse });
  } finally {
    await client.end();
    await postgres.stop();
  }
}

const CLOCK_TICK_US = 10_000;

/**
 * Returns the processor time of a process and its children in microseconds, including children that
 * have ended; 0 without `/proc`.
 */
function readTreeCpuUs(pid: number): number {
  let ticks = 0;
  for (const name of safely(() => readdirSync('/proc'), [])) {
    const stat = safely(() => readFileSync(`/proc/${name}/stat`, 'utf8'), '');
    const fields = stat
      .slice(stat.lastIndexOf(') ') + 2)
      .split(' ')
      .map(Number);
    const [, parent, ...rest] = fields;
    const [user = 0, system = 0, ofEnded = 0, systemOfEnded = 0] = rest.slice(9);
    if (parent === pid) ticks += user + system;
    if (Number(name) === pid) ticks += user + system + ofEnded + systemOfEnded;
  }
  return ticks * CLOCK_TICK_US;
}

/** Returns `otherwise` if the read fails, for example because the process has just exited. */
function safely<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
