/** Creates temporary ledgers for benchmarks, with production durability. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@sluice/testkit';
import { openPostgresStore } from '../../packages/service/src/store/engine/postgres/postgres.ts';
import { openSqliteStore } from '../../packages/service/src/store/engine/sqlite/sqlite.ts';
import type { Store } from '../../packages/service/src/store/store.ts';

export type EngineName = Store['engine'];

export interface Ledger {
  store: Store;
  /**
   * Returns the processor time of the database server's processes in microseconds; undefined for
   * SQLite, which has no server.
   */
  readCpuUs: (() => number) | undefined;
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
      return await work({ store, readCpuUs: undefined });
    } finally {
      await store.close();
      rmSync(folder, { recursive: true });
    }
  }
  return withPostgres(async ({ url, readCpuUs }) => {
    const store = await openPostgresStore(url);
    try {
      return await work({ store, readCpuUs });
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
  work: (server: { url: string; readCpuUs: () => number }) => Promise<T>,
): Promise<T> {
  const postgres = await startPostgres({ settings: { fsync: 'on' } });
  try {
    return await work({ url: postgres.url, readCpuUs: () => readTreeCpuUs(postgres.pid) });
  } finally {
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
