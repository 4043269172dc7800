import { startPostgres } from '@sluice/testkit';
import pg from 'pg';
import { afterEach, expect, test, vi } from 'vitest';
import { createPostgresSignals } from './postgresSignals.ts';

afterEach(() => void vi.restoreAllMocks());

test('a session that fails while opening is closed, not kept next to a new one', async () => {
  const postgres = await startPostgres();
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  let broken = 0;
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...args: unknown[]
  ): unknown {
    if (!String(args[0]).includes('listen ')) return query.apply(this, args);
    broken++;
    return Promise.reject(new Error('it broke'));
  });
  const signals = createPostgresSignals(postgres.url);
  const watcher = new pg.Client(postgres.url);
  await watcher.connect();
  await expect.poll(() => broken, { timeout: 15_000 }).toBeGreaterThanOrEqual(3);
  const others = async (): Promise<number> => {
    const { rows } = await watcher.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity
       where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    );
    return rows[0]!.n;
  };
  await expect.poll(others).toBe(0);
  await watcher.end();
  await signals.close();
  await postgres.stop();
});
