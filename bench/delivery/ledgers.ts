/** Ledgers to measure with: each as durable as in production, and gone afterwards. */
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
  /** Microseconds of processor time of the database's own processes; undefined where there are none. */
  readCpuUs: (() => number) | undefined;
}

/** SQLite with `synchronous=FULL`, or a PostgreSQL of its own with `fsync` and `synchronous_commit` on. */
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

/** A PostgreSQL server that waits for the disk at each commit, as it does by default. */
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

/** Of a process with its children, those included that have ended; 0 where there is no `/proc`. */
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

/** A process may end while it is looked at. */
function safely<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
